package write

import (
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// Filled is the comment behind a description that the import wrote.
const Filled = "filled in by ambit import"

// A Tool is what a declaration says of an imported tool.
type Tool struct {
	Name  string
	Alias string // the name in the source; empty: it is Name
	Title string
	// Description is filled in when it says so.
	Description string
	Filled      bool
	Effect      string
	Hints       string // what the source claims of the effect, as a comment; of our own words only
	Input       *jsonschema.Value
	Output      *jsonschema.Value // nil: that of the declaration stays
	At          *jsonschema.Value // where the tool stands in the source
}

// head begins a new declaration.
const head = `# Written by "ambit import". An effect is what the importer assumes, not what the tool
# does: read each one. Importing again changes descriptions and schemas, and nothing else.
ambit: v1
package: `

// Declaration is a new declaration of tools, of which there is at least one.
func Declaration(pkg string, tools []Tool) *Text {
	t := new(Text)
	none := Place{Tool: -1}
	t.add(0, head+pkg+"\n\ntools:", none)
	for i := range tools {
		t.append(tools[i].text(2, i))
	}
	return t
}

// text is a whole tool.
func (u *Tool) text(indent, i int) *Text {
	t := new(Text)
	p := Place{Tool: i, At: u.At}
	t.add(indent, u.Name+":", p)
	if u.Alias != "" {
		t.add(indent+2, "alias: "+quoted(u.Alias), p)
	}
	t.add(indent+2, "version: 1.0.0", p)
	if u.Title != "" {
		t.add(indent+2, "title: "+quoted(u.Title), p)
	}
	t.append(u.part(indent+2, "description", i))
	effect := "effect: " + u.Effect
	if u.Hints != "" {
		effect += " # the source says " + u.Hints
	}
	t.add(indent+2, effect, p)
	t.append(u.part(indent+2, "input", i))
	if u.Output != nil {
		t.append(u.part(indent+2, "output", i))
	}
	return t
}

// parts are the keys of a tool that a later import writes again.
var parts = []string{"description", "input", "output"}

// part is one of these.
func (u *Tool) part(indent int, name string, i int) *Text {
	t := new(Text)
	p := Place{Tool: i, At: u.At}
	switch name {
	case "input":
		t.schema(indent, name, u.Input, Place{Tool: i, At: u.Input})
	case "output":
		t.schema(indent, name, u.Output, Place{Tool: i, At: u.Output})
	default:
		text := prose(u.Description)
		if u.Filled {
			text += " # " + Filled
		}
		t.add(indent, name+": "+text, p)
	}
	return t
}
