package write

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ambit-tools/ambit/dsl/yamldoc"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// An Existing is a declaration that people may have edited.
type Existing struct {
	lines []string
	types *yaml.Node // the mapping of named schemas, nil without one
	tools *yaml.Node // the mapping
	end   int        // the line behind it, from 0
	of    map[string]existing
}

// An existing tool.
type existing struct {
	key, value *yaml.Node
	end        int // the line behind it, from 0
}

// Read reads a declaration.
func Read(src []byte) (*Existing, error) {
	doc, _, err := yamldoc.Decode(src)
	if err != nil {
		_, what := yamldoc.Fault(err)
		return nil, fmt.Errorf("the declaration is no YAML: %s", what)
	}
	if doc == nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("the declaration holds no mapping")
	}
	e := &Existing{lines: strings.Split(strings.TrimSuffix(string(src), "\n"), "\n"), of: map[string]existing{}}
	root := doc.Content[0]
	e.types = child(root, "types")
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "tools" {
			e.tools, e.end = root.Content[i+1], len(e.lines)
			if i+2 < len(root.Content) {
				e.end = root.Content[i+2].Line - 1
			}
		}
	}
	if e.tools == nil || !block(e.tools) {
		return nil, fmt.Errorf("the declaration has no tools in lines of their own")
	}
	e.end = e.above(e.end, root.Content[0].Column-1)
	list := e.tools.Content
	for i := 0; i+1 < len(list); i += 2 {
		end := e.end
		if i+2 < len(list) {
			end = e.above(list[i+2].Line-1, list[i+2].Column-1)
		}
		e.of[list[i].Value] = existing{list[i], list[i+1], end}
	}
	return e, nil
}

func block(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

// above is the line behind the last one above end that is neither empty nor a comment of
// what follows: one that is indented no deeper.
func (e *Existing) above(end, indent int) int {
	for end > 0 {
		line := e.lines[end-1]
		rest := strings.TrimLeft(line, " ")
		if rest != "" && (!strings.HasPrefix(rest, "#") || len(line)-len(rest) > indent) {
			break
		}
		end--
	}
	return end
}

// Names are the names of the tools, in order.
func (e *Existing) Names() []string {
	var out []string
	for i := 0; i+1 < len(e.tools.Content); i += 2 {
		out = append(out, e.tools.Content[i].Value)
	}
	return out
}

// Alias is the alias of a tool; empty without one.
func (e *Existing) Alias(name string) string {
	if n := child(e.of[name].value, "alias"); n != nil {
		return n.Value
	}
	return ""
}

// Editable reports whether a tool stands in lines of its own.
func (e *Existing) Editable(name string) bool { return block(e.of[name].value) }

func child(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// Over is the declaration with tools in it: of those that it has, descriptions and schemas
// are replaced where they differ; the others are added behind. The rest of the text stays
// byte for byte.
func (e *Existing) Over(tools []Tool) *Text {
	type edit struct {
		from, to int
		with     *Text
	}
	var edits []edit
	var added []*Text
	for i := range tools {
		u := &tools[i]
		old, ok := e.of[u.Name]
		if !ok {
			added = append(added, u.text(e.tools.Content[0].Column-1, i))
			continue
		}
		for _, name := range parts {
			if name == "output" && u.Output == nil {
				continue
			}
			from, to, indent := e.span(old, name)
			with := u.part(indent, name, i)
			if same(child(old.value, name), u, name) {
				with = e.kept(from, to, with)
			}
			edits = append(edits, edit{from, to, with})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	t := new(Text)
	at := 0
	for _, x := range append(edits, edit{e.end, e.end, nil}) {
		t.old(e.lines[at:x.from])
		at = x.to
		if x.with != nil {
			t.append(x.with)
		}
	}
	for _, a := range added {
		t.append(a)
	}
	t.old(e.lines[at:])
	return t
}

func (t *Text) old(lines []string) {
	for _, line := range lines {
		t.lines = append(t.lines, line)
		t.places = append(t.places, Place{Tool: -1})
	}
}

// kept are lines that stay, with the tool that they belong to.
func (e *Existing) kept(from, to int, with *Text) *Text {
	t := new(Text)
	t.old(e.lines[from:to])
	for i := range t.places {
		t.places[i] = Place{Tool: with.places[0].Tool, At: with.places[0].At}
	}
	return t
}

// span is where a key of a tool and its value stand; behind the tool when it has no such
// key.
func (e *Existing) span(old existing, name string) (from, to, indent int) {
	list := old.value.Content
	indent = list[0].Column - 1
	for i := 0; i+1 < len(list); i += 2 {
		if list[i].Value != name {
			continue
		}
		to = old.end
		if i+2 < len(list) {
			to = e.above(list[i+2].Line-1, indent)
		}
		return list[i].Line - 1, to, indent
	}
	return old.end, old.end, indent
}

// same reports whether a part says already what the import would write.
func same(n *yaml.Node, u *Tool, name string) bool {
	if n == nil {
		return false
	}
	want := jsonschema.NewString(u.Description, u.At)
	switch name {
	case "input":
		want = u.Input
	case "output":
		want = u.Output
	default:
		return n.Kind == yaml.ScalarNode && strings.TrimSpace(n.Value) == want.Text
	}
	got := tree(n)
	return got != nil && jsonschema.Canonical(got) == jsonschema.Canonical(want)
}

// tree is a node as JSON; nil when it is none.
func tree(n *yaml.Node) *jsonschema.Value {
	v := new(jsonschema.Value)
	switch n.Kind {
	case yaml.MappingNode:
		v.Kind = jsonschema.Object
		for i := 0; i+1 < len(n.Content); i += 2 {
			sub := tree(n.Content[i+1])
			if sub == nil {
				return nil
			}
			v.Members = append(v.Members, &jsonschema.Member{Name: n.Content[i].Value, Value: sub})
		}
	case yaml.SequenceNode:
		v.Kind = jsonschema.Array
		for _, item := range n.Content {
			sub := tree(item)
			if sub == nil {
				return nil
			}
			v.Items = append(v.Items, sub)
		}
	case yaml.ScalarNode:
		v.Text = n.Value
		switch n.Tag {
		case "!!null":
			v.Kind = jsonschema.Null
		case "!!bool":
			v.Kind, v.Bool = jsonschema.Bool, n.Value == "true"
		case "!!int", "!!float":
			v.Kind = jsonschema.Number
		default:
			v.Kind = jsonschema.String
		}
	default:
		return nil
	}
	return v
}
