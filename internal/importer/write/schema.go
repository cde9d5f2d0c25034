package write

import (
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// lineWidth is how long a list may be to stand in one line.
const lineWidth = 100

// schema writes a schema behind a key.
func (t *Text) schema(indent int, name string, v *jsonschema.Value, p Place) {
	if !v.Is(jsonschema.Object) || len(v.Members) == 0 {
		t.add(indent, name+": "+flow(v), p)
		return
	}
	t.add(indent, name+":", p)
	t.keywords(indent+2, v, p.Tool)
}

func (t *Text) keywords(indent int, s *jsonschema.Value, tool int) {
	for _, m := range s.Members {
		t.keyword(indent, s, m, tool)
	}
}

// keyword writes one member of a schema.
func (t *Text) keyword(indent int, s *jsonschema.Value, m *jsonschema.Member, tool int) {
	p := Place{tool, s, m.Name, m.Value}
	v := m.Value
	name := key(m.Name)
	switch m.Name {
	case "properties", "$defs", "patternProperties", "dependentSchemas":
		if v.Is(jsonschema.Object) && len(v.Members) > 0 {
			t.add(indent, name+":", p)
			for _, sub := range v.Members {
				t.schema(indent+2, key(sub.Name), sub.Value, Place{Tool: tool, At: sub.Value})
			}
			return
		}
	case "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		t.schema(indent, name, v, p)
		return
	case "allOf", "anyOf", "oneOf", "prefixItems":
		if v.Is(jsonschema.Array) && len(v.Items) > 0 {
			t.add(indent, name+":", p)
			for _, item := range v.Items {
				t.entry(indent+2, item, tool)
			}
			return
		}
	}
	t.plain(indent, name, v, p)
}

// entry writes a schema as an entry of a list.
func (t *Text) entry(indent int, v *jsonschema.Value, tool int) {
	if !v.Is(jsonschema.Object) || len(v.Members) == 0 {
		t.add(indent, "- "+flow(v), Place{Tool: tool, At: v})
		return
	}
	at := len(t.lines)
	t.keywords(indent+2, v, tool)
	line := []byte(t.lines[at])
	line[indent] = '-'
	t.lines[at] = string(line)
}

// plain writes a keyword whose value is no schema.
func (t *Text) plain(indent int, name string, v *jsonschema.Value, p Place) {
	text := flow(v)
	switch {
	case p.Key == "type" && p.Schema != nil:
		text = types(v)
	case v.Is(jsonschema.String) && (p.Key == "title" || p.Key == "description"):
		text = prose(v.Text)
	case v.Is(jsonschema.Array) && indent+len(name)+len(text) > lineWidth && !slices.ContainsFunc(v.Items, isCompound):
		t.add(indent, name+":", p)
		for _, item := range v.Items {
			t.add(indent+2, "- "+flow(item), p)
		}
		return
	}
	if v.Comment != "" {
		text += " # " + v.Comment
	}
	t.add(indent, name+": "+text, p)
}

// types writes the names of types without quotes, but for null, which is a value then.
func types(v *jsonschema.Value) string {
	if v.Is(jsonschema.Array) {
		var out []string
		for _, item := range v.Items {
			out = append(out, types(item))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	if v.Is(jsonschema.String) && slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean"}, v.Text) {
		return v.Text
	}
	return flow(v)
}

func isCompound(v *jsonschema.Value) bool { return v.Is(jsonschema.Array) || v.Is(jsonschema.Object) }
