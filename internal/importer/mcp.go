package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// maxDepth bounds the nesting of an answer, so that a hostile one costs no stack. A declaration takes 64 levels.
const maxDepth = 256

// A sourceTool is one entry of an answer to tools/list.
type sourceTool struct {
	name  string
	at    *jsonschema.Value
	input *jsonschema.Value
}

// readMCP finds the tools in an answer to tools/list, in a whole JSON-RPC answer or in a
// list. more is where the answer says that it is one page of several, nil otherwise.
func readMCP(src []byte) (tools []sourceTool, left []Left, more *jsonschema.Value, err error) {
	root, err := jsonschema.Parse(src, maxDepth)
	if err != nil {
		return nil, nil, nil, err
	}
	answer := root
	if r := root.Get("result"); r != nil {
		answer = r
	}
	list := answer
	if answer.Is(jsonschema.Object) {
		list = answer.Get("tools")
		if c := answer.Get("nextCursor"); c.Is(jsonschema.String) && c.Text != "" {
			more = c
		}
	}
	switch {
	case root.Has("error"):
		return nil, nil, nil, &jsonschema.Error{Pos: root.Member("error").Pos, Message: "the answer is an error, and lists no tools"}
	case !list.Is(jsonschema.Array):
		return nil, nil, nil, &jsonschema.Error{Pos: answer.Pos, Message: `this is no answer to tools/list: it is neither a list nor an object with a list "tools"`}
	case len(list.Items) == 0:
		return nil, nil, nil, &jsonschema.Error{Pos: list.Pos, Message: "the answer lists no tools"}
	}
	for i, at := range list.Items {
		at.Locate()
		t, why := readTool(at)
		if why != nil {
			why.Tool = cmp.Or(t.name, fmt.Sprintf("number %d", i+1))
			left = append(left, *why)
			continue
		}
		tools = append(tools, t)
	}
	return tools, left, more, nil
}

// maxAlias bounds the name of a source: that of the Model Context Protocol has at most 128
// characters.
const maxAlias = 128

// readTool reads one entry. A fault has no name of a tool yet.
func readTool(at *jsonschema.Value) (sourceTool, *Left) {
	fault := func(v *jsonschema.Value, message, hint string) *Left {
		return &Left{Pointer: v.Pointer, Pos: v.Pos, Reason: message, Hint: hint}
	}
	name := at.Get("name")
	switch {
	case !at.Is(jsonschema.Object):
		return sourceTool{}, fault(at, "the entry is no tool: it is not an object", "")
	case !name.Is(jsonschema.String) || strings.TrimSpace(name.Text) == "":
		return sourceTool{}, fault(at, "the tool has no name", "give it one")
	case name.Broken:
		return sourceTool{}, fault(name, "the name has half of a surrogate pair, which is no character", "name it with at most 128 letters, digits and _ . - /")
	case len(name.Text) > maxAlias || strings.ContainsFunc(name.Text, unprintable):
		short := shortened(name.Text)
		return sourceTool{name: short}, fault(name, fmt.Sprintf("the name %q is too long, or has characters that do not print", short), "name it with at most 128 letters, digits and _ . - /")
	}
	t := sourceTool{name: name.Text, at: at, input: at.Get("inputSchema")}
	if t.input == nil {
		return t, fault(at, "the tool has no inputSchema", `write {"type": "object"} for any arguments`)
	}
	return t, nil
}

func shortened(name string) string {
	runes := []rune(name)
	if len(runes) > 40 {
		return string(runes[:40]) + "..."
	}
	return name
}

// told are the members of an entry that the import reads. What else there is, is for
// clients that show tools.
var told = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// hints are the claims of a server about a tool, in the order of the protocol.
var hints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// claims lists the hints of an entry.
func claims(at *jsonschema.Value) string {
	var out []string
	for _, name := range hints {
		if v := at.Get("annotations").Get(name); v.Is(jsonschema.Bool) {
			out = append(out, fmt.Sprintf("%s: %t", name, v.Bool))
		}
	}
	return strings.Join(out, ", ")
}

// effect is what an entry claims, or the worst.
func effect(at *jsonschema.Value, trust bool) string {
	a := at.Get("annotations")
	switch destructive := a.Get("destructiveHint"); {
	case !trust:
	case a.Get("readOnlyHint").IsTrue():
		return "read"
	case destructive.Is(jsonschema.Bool) && !destructive.Bool:
		return "write"
	}
	return "destructive"
}

// extra are the members of an entry that have no place in a declaration.
func extra(at *jsonschema.Value) []*jsonschema.Member {
	var out []*jsonschema.Member
	for _, m := range at.Members {
		if !slices.Contains(told, m.Name) {
			out = append(out, m)
		}
	}
	return out
}
