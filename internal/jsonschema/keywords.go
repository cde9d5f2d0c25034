package jsonschema

import "iter"

// A Tree reads one form of JSON values. The resolver works on any, so that a reader whose nodes know
// more than a [Value], such as their place in a YAML file, needs no second tree.
type Tree[N comparable] interface {
	// Text returns the text of a string; false for any other value.
	Text(N) (string, bool)
	// Items returns the elements of an array, not nil if there are none; nil for any other value.
	Items(N) []N
	// Members yields the members of an object in their order; none for any other value.
	Members(N) iter.Seq2[string, N]
}

// The forms in which a keyword holds schemas.
type form uint8

const (
	one       form = iota + 1 // a schema
	list                      // a list of schemas
	oneOrList                 // either
	byName                    // an object with a schema for each name
)

// keywords are those that hold schemas, in any draft.
var keywords = map[string]form{
	"$defs": byName, "definitions": byName, "properties": byName, "patternProperties": byName, "dependentSchemas": byName, "dependencies": byName,
	"allOf": list, "anyOf": list, "oneOf": list, "prefixItems": list, "items": oneOrList,
	"additionalItems": one, "additionalProperties": one, "unevaluatedItems": one, "unevaluatedProperties": one, "contains": one, "propertyNames": one,
	"not": one, "if": one, "then": one, "else": one, "contentSchema": one,
}

// Subschemas yields the schemas directly inside of a schema, in their order, each with its keyword. What a keyword
// holds is yielded whether it is a schema or not, but for texts and lists.
func Subschemas[N comparable](t Tree[N], schema N) iter.Seq2[string, N] {
	return func(yield func(string, N) bool) {
		for keyword, v := range t.Members(schema) {
			for sub := range held(t, keywords[keyword], v) {
				if t.Items(sub) != nil {
					continue
				}
				if _, text := t.Text(sub); !text && !yield(keyword, sub) {
					return
				}
			}
		}
	}
}

// held yields what a keyword of a form holds.
func held[N comparable](t Tree[N], f form, v N) iter.Seq[N] {
	return func(yield func(N) bool) {
		items := t.Items(v)
		switch {
		case f == one, f == oneOrList && items == nil:
			yield(v)
		case f == list, f == oneOrList:
			for _, item := range items {
				if !yield(item) {
					return
				}
			}
		case f == byName:
			for _, part := range t.Members(v) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// Rewritten returns a copy of a schema in which f has replaced the schemas directly inside of it, and what stands
// where a schema would. It shares all else with s.
func Rewritten(s *Value, f func(keyword string, sub *Value) *Value) *Value {
	out := NewObject(s)
	for _, m := range s.Members {
		own := *m
		each := func(sub *Value) *Value { return f(m.Name, sub) }
		switch form := keywords[m.Name]; {
		case (form == list || form == oneOrList) && m.Value.Is(Array):
			own.Value = NewArray(m.Value)
			for _, item := range m.Value.Items {
				own.Value.Items = append(own.Value.Items, each(item))
			}
		case form == byName && m.Value.Is(Object):
			own.Value = NewObject(m.Value)
			for _, part := range m.Value.Members {
				named := *part
				named.Value = each(part.Value)
				own.Value.Members = append(own.Value.Members, &named)
			}
		case form == one || form == oneOrList:
			own.Value = each(m.Value)
		}
		out.Members = append(out.Members, &own)
	}
	return out
}
