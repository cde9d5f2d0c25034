package dialect

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// A reader knows a rewritten schema, and what the rewriting made of it.
type reader struct {
	root   *value
	index  *jsonschema.Index[*value]
	made   map[*value]map[string]string // the places of members that were made nullable, by the object that has them
	tuples map[*value][]*value          // the schemas of the elements of a tuple, by the array
}

// reader returns a reader of a rewritten schema.
func (w *rewriter) reader(root *value) reader {
	return reader{root, jsonschema.NewIndex(jsonschema.Values{}, root), w.made, w.tuples}
}

// expand replaces references and unions by what they stand for.
func (r reader) expand(schemas []*value) (out []*value) {
	seen := map[*value]bool{}
	var add func(s *value)
	add = func(s *value) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if ref := s.TextOf("$ref"); ref != "" {
			add(r.definition(ref))
			return
		}
		branches := s.ListOf("anyOf")
		for _, b := range branches {
			add(b)
		}
		if branches == nil {
			out = append(out, s)
		}
	}
	for _, s := range schemas {
		add(s)
	}
	return out
}

// definition returns what a reference leads to.
func (r reader) definition(ref string) *value {
	to, _ := r.index.Find(r.root, ref)
	return to
}

// element returns the schema of the element of an array at an index, or nil.
func (r reader) element(array *value, i int) *value {
	if tuple := r.tuples[array]; i < len(tuple) {
		return tuple[i]
	}
	return array.ObjectOf("items")
}

// admitsNull reports whether a schema allows null.
func (r reader) admitsNull(schema *value) bool {
	return slices.ContainsFunc(r.expand([]*value{schema}), func(s *value) bool { return slices.Contains(typesOf(s), "null") })
}

// typesOf returns the types of a rewritten schema that is neither a union nor a reference.
func typesOf(s *value) []string {
	if t := s.TextOf("type"); t != "" {
		return []string{t}
	}
	return s.TextsOf("type")
}

// listed returns the values that a rewritten schema lists: null has no enum.
func listed(s *value) ([]*value, bool) {
	if values, ok := literals(s); ok {
		return values, true
	}
	return []*value{{}}, s.TextOf("type") == "null"
}

// scalar returns the value of a text that is neither an object nor an array, a number with its digits.
func scalar(text []byte) (v *value, ok bool) {
	v = &value{}
	switch text[0] {
	case '{', '[':
		return nil, false
	case 'n':
	case 't', 'f':
		v.Kind, v.Bool = jsonschema.Bool, text[0] == 't'
	case '"':
		v.Kind = jsonschema.String
		return v, json.Unmarshal(text, &v.Text) == nil
	default:
		v.Kind, v.Text = jsonschema.Number, string(text)
	}
	return v, true
}

// sameScalar reports whether a listed value and that of a member may be the same. Numbers are the same
// by value, 1.0 and 1 too; what no float64 tells apart may be the same.
func sameScalar(listed, v *value) bool {
	if !listed.Is(jsonschema.Number) || !v.Is(jsonschema.Number) {
		return !listed.Is(jsonschema.Array) && !listed.Is(jsonschema.Object) && jsonschema.Equal(listed, v)
	}
	x, errX := strconv.ParseFloat(listed.Text, 64)
	y, errY := strconv.ParseFloat(v.Text, 64)
	return errX != nil || errY != nil || x == y
}
