package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A reader knows a rewritten schema, and what the rewriting made of it.
type reader struct {
	root   *object
	made   map[*object]map[string]string // the places of members that were made nullable, by the object that has them
	tuples map[*object][]*object         // the schemas of the elements of a tuple, by the array
}

// expand replaces references and unions by what they stand for.
func (r reader) expand(schemas []*object) (out []*object) {
	seen := map[*object]bool{}
	var add func(s *object)
	add = func(s *object) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if ref := s.text("$ref"); ref != "" {
			add(r.definition(ref))
			return
		}
		branches := s.list("anyOf")
		for _, b := range branches {
			add(b.(*object))
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
func (r reader) definition(ref string) *object { return r.root.resolve(ref[1:]) }

// element returns the schema of the element of an array at an index, or nil.
func (r reader) element(array *object, i int) *object {
	if tuple := r.tuples[array]; i < len(tuple) {
		return tuple[i]
	}
	return array.object("items")
}

// admitsNull reports whether a schema allows null.
func (r reader) admitsNull(schema *object) bool {
	return slices.ContainsFunc(r.expand([]*object{schema}), func(s *object) bool { return slices.Contains(typesOf(s), "null") })
}

// typesOf returns the types of a rewritten schema that is neither a union nor a reference.
func typesOf(s *object) []string {
	if t := s.text("type"); t != "" {
		return []string{t}
	}
	return s.strings("type")
}

// listed returns the values that a rewritten schema lists: null has no enum.
func listed(s *object) ([]any, bool) {
	if values, ok := s.literals(); ok {
		return values, true
	}
	return []any{nil}, s.text("type") == "null"
}

// scalar returns the value of a text that is neither an object nor an array, a number with its digits.
func scalar(text []byte) (value any, ok bool) {
	if text[0] == '{' || text[0] == '[' {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// sameScalar reports whether a listed value and that of a member may be the same. Numbers are the same
// by value, 1.0 and 1 too; what no float64 tells apart may be the same.
func sameScalar(listed, value any) bool {
	a, isNumber := listed.(json.Number)
	b, both := value.(json.Number)
	if !isNumber || !both {
		switch listed.(type) {
		case nil, bool, string:
			return listed == value
		}
		return false
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX != nil || errY != nil || x == y
}
