package normalize

import (
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

func quote(text string) string { return strconv.QuoteToASCII(text) }

// spelling writes one union in another way that accepts the same values, and reports
// whether it did.
func (w *work) spelling(s *jsonschema.Value) bool {
	return w.nullUnion(s) || w.unwrap(s) || w.constants(s)
}

// annotating are the keywords that say nothing about values: where two schemas become one,
// the outer one keeps its own.
var annotating = []string{"title", "description", "default", "examples", "deprecated", "$comment", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "x-mcp-header", "$anchor"}

// apart reports whether two schemas share no keyword but annotations, so that one object
// can hold both. key is where o stands in s.
func apart(s, o *jsonschema.Value, key string) bool {
	for _, name := range o.Names() {
		if name != key && !slices.Contains(annotating, name) && s.Has(name) {
			return false
		}
	}
	// These speak of the other keywords beside them.
	for _, name := range []string{"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "$ref"} {
		if (s.Has(name) && len(o.Members) > 0 || o.Has(name)) && speaks(s, key) && speaks(o, "") {
			return false
		}
	}
	return true
}

// speaks reports whether a schema has a keyword about values besides one.
func speaks(s *jsonschema.Value, but string) bool {
	return slices.ContainsFunc(s.Names(), func(name string) bool { return name != but && !slices.Contains(annotating, name) && name != "$defs" })
}

// merge writes o into s in the place of the keyword that held it.
func merge(s, o *jsonschema.Value, key string) {
	at := slices.IndexFunc(s.Members, func(m *jsonschema.Member) bool { return m.Name == key })
	s.Delete(key)
	for _, m := range o.Members {
		if !s.Has(m.Name) {
			s.Members = slices.Insert(s.Members, at, m)
			at++
		}
	}
}

// nullUnion writes a union of one schema with null as a nullable type.
func (w *work) nullUnion(s *jsonschema.Value) bool {
	for _, key := range []string{"anyOf", "oneOf"} {
		list := s.Get(key)
		if !list.Is(jsonschema.Array) || len(list.Items) < 2 {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(list.Items), isNull)
		if len(rest) != 1 || key == "oneOf" && len(list.Items) != 2 {
			continue
		}
		o := rest[0]
		t := o.Get("type")
		if !t.Is(jsonschema.String) || t.Text == "null" || o.Has("const") || !apart(s, o, key) || negates(o) {
			continue
		}
		merge(s, o, key)
		s.Set("type", jsonschema.NewArray(t, t, jsonschema.NewString("null", t)))
		if e := s.Get("enum"); e.Is(jsonschema.Array) {
			with := jsonschema.NewArray(e, slices.Clone(e.Items)...)
			with.Items = append(with.Items, &jsonschema.Value{Kind: jsonschema.Null, Pos: e.Pos, Pointer: e.Pointer})
			s.Set("enum", with)
		}
		w.note(Nullable, list, "%s with null became type [%s, \"null\"]", key, t.Text)
		return true
	}
	return false
}

// negates reports whether a keyword of a schema holds for null as well as for its type, so
// that the schema of the type cannot simply take null besides.
func negates(s *jsonschema.Value) bool {
	return slices.ContainsFunc([]string{"not", "allOf", "anyOf", "oneOf", "if", "$ref"}, s.Has)
}

// unwrap takes a union or an intersection of one schema for that schema.
func (w *work) unwrap(s *jsonschema.Value) bool {
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list := s.Get(key)
		if !list.Is(jsonschema.Array) || len(list.Items) != 1 || !list.Items[0].Is(jsonschema.Object) || !apart(s, list.Items[0], key) {
			continue
		}
		merge(s, list.Items[0], key)
		w.note(Unwrapped, list, "%s of one schema unwrapped", key)
		return true
	}
	return false
}

// constants makes an enum of a union whose branches list values of one type.
func (w *work) constants(s *jsonschema.Value) bool {
	for _, key := range []string{"anyOf", "oneOf"} {
		list := s.Get(key)
		if !list.Is(jsonschema.Array) || s.Has("enum") || s.Has("const") {
			continue
		}
		var values []*jsonschema.Value
		for _, b := range list.Items {
			own := listed(b)
			if own == nil {
				values = nil
				break
			}
			values = append(values, own...)
		}
		if len(values) == 0 || typeOf(values) == "" || key == "oneOf" && repeats(values) {
			continue
		}
		s.Rename(key, "enum")
		s.Set("enum", jsonschema.NewArray(list, values...))
		w.note(Constants, list, "%s of constants became enum", key)
		return true
	}
	return false
}

// listed are the values that a schema lists and takes; nil when it says anything else.
func listed(s *jsonschema.Value) []*jsonschema.Value {
	if isNull(s) && len(s.Members) == 1 {
		return []*jsonschema.Value{{Kind: jsonschema.Null, Pos: s.Pos, Pointer: s.Pointer}}
	}
	for _, name := range s.Names() {
		if !slices.Contains([]string{"const", "enum", "type"}, name) && !slices.Contains(annotating, name) {
			return nil
		}
	}
	var values []*jsonschema.Value
	switch c, e := s.Get("const"), s.Get("enum"); {
	case c != nil && e == nil:
		values = []*jsonschema.Value{c}
	case e.Is(jsonschema.Array) && c == nil:
		values = e.Items
	}
	if t := s.Get("type"); t != nil && slices.ContainsFunc(values, func(v *jsonschema.Value) bool { return !takes(s, v) }) {
		return nil
	}
	return values
}

// takes reports whether a value has a type that a schema lists.
func takes(s, v *jsonschema.Value) bool {
	types := typesOf(s)
	switch v.Kind {
	case jsonschema.Null:
		return slices.Contains(types, "null")
	case jsonschema.Bool:
		return slices.Contains(types, "boolean")
	case jsonschema.String:
		return slices.Contains(types, "string")
	case jsonschema.Array:
		return slices.Contains(types, "array")
	case jsonschema.Object:
		return slices.Contains(types, "object")
	}
	r := jsonschema.Rat(v.Text)
	return slices.Contains(types, "number") && !onlyInteger(s) || onlyInteger(s) && (r == nil || r.IsInt())
}

// onlyInteger reports whether integer is the only type of numbers that a schema lists.
func onlyInteger(s *jsonschema.Value) bool {
	t := s.Get("type")
	is := func(name string) bool {
		return t.IsText(name) || t.Is(jsonschema.Array) && slices.ContainsFunc(t.Items, func(v *jsonschema.Value) bool { return v.IsText(name) })
	}
	return is("integer") && !is("number")
}

func repeats(values []*jsonschema.Value) bool {
	seen := map[string]bool{}
	for _, v := range values {
		c := jsonschema.Canonical(v)
		if seen[c] {
			return true
		}
		seen[c] = true
	}
	return false
}

// typeOf names the one type of values besides null; empty when there are several, or one
// that lists nothing in a declaration.
func typeOf(values []*jsonschema.Value) string {
	found := ""
	for _, v := range values {
		t := ""
		switch v.Kind {
		case jsonschema.Null:
			continue
		case jsonschema.String:
			t = "string"
		case jsonschema.Bool:
			t = "boolean"
		case jsonschema.Number:
			t = "number"
			if r := jsonschema.Rat(v.Text); r != nil && r.IsInt() && (found == "" || found == "integer") {
				t = "integer"
			} else if found == "integer" {
				found = "number"
			}
		}
		if t == "" || found != "" && found != t {
			return ""
		}
		found = t
	}
	return found
}
