package normalize

import (
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/internal/importer/jsontree"
)

func quote(text string) string { return strconv.QuoteToASCII(text) }

// spelling writes one union in another way that accepts the same values, and reports
// whether it did.
func (w *work) spelling(s *jsontree.Value) bool {
	return w.nullUnion(s) || w.unwrap(s) || w.constants(s)
}

// annotating are the keywords that say nothing about values: where two schemas become one,
// the outer one keeps its own.
var annotating = []string{"title", "description", "default", "examples", "deprecated", "$comment", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "x-mcp-header", "$anchor"}

// apart reports whether two schemas share no keyword but annotations, so that one object
// can hold both. key is where o stands in s.
func apart(s, o *jsontree.Value, key string) bool {
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
func speaks(s *jsontree.Value, but string) bool {
	return slices.ContainsFunc(s.Names(), func(name string) bool { return name != but && !slices.Contains(annotating, name) && name != "$defs" })
}

// merge writes o into s in the place of the keyword that held it.
func merge(s, o *jsontree.Value, key string) {
	at := slices.IndexFunc(s.Members, func(m *jsontree.Member) bool { return m.Name == key })
	s.Delete(key)
	for _, m := range o.Members {
		if !s.Has(m.Name) {
			s.Members = slices.Insert(s.Members, at, m)
			at++
		}
	}
}

// nullUnion writes a union of one schema with null as a nullable type.
func (w *work) nullUnion(s *jsontree.Value) bool {
	for _, key := range []string{"anyOf", "oneOf"} {
		list := s.Get(key)
		if !list.Is(jsontree.Array) || len(list.Items) < 2 {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(list.Items), isNull)
		if len(rest) != 1 || key == "oneOf" && len(list.Items) != 2 {
			continue
		}
		o := rest[0]
		t := o.Get("type")
		if !t.Is(jsontree.String) || t.Text == "null" || o.Has("const") || !apart(s, o, key) || negates(o) {
			continue
		}
		merge(s, o, key)
		s.Set("type", jsontree.NewArray(t, t, jsontree.NewString("null", t)))
		if e := s.Get("enum"); e.Is(jsontree.Array) {
			with := jsontree.NewArray(e, slices.Clone(e.Items)...)
			with.Items = append(with.Items, &jsontree.Value{Kind: jsontree.Null, Pos: e.Pos, Pointer: e.Pointer})
			s.Set("enum", with)
		}
		w.note(Nullable, list, "%s with null became type [%s, \"null\"]", key, t.Text)
		return true
	}
	return false
}

// negates reports whether a keyword of a schema holds for null as well as for its type, so
// that the schema of the type cannot simply take null besides.
func negates(s *jsontree.Value) bool {
	return slices.ContainsFunc([]string{"not", "allOf", "anyOf", "oneOf", "if", "$ref"}, s.Has)
}

// unwrap takes a union or an intersection of one schema for that schema.
func (w *work) unwrap(s *jsontree.Value) bool {
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list := s.Get(key)
		if !list.Is(jsontree.Array) || len(list.Items) != 1 || !list.Items[0].Is(jsontree.Object) || !apart(s, list.Items[0], key) {
			continue
		}
		merge(s, list.Items[0], key)
		w.note(Unwrapped, list, "%s of one schema unwrapped", key)
		return true
	}
	return false
}

// constants makes an enum of a union whose branches list values of one type.
func (w *work) constants(s *jsontree.Value) bool {
	for _, key := range []string{"anyOf", "oneOf"} {
		list := s.Get(key)
		if !list.Is(jsontree.Array) || s.Has("enum") || s.Has("const") {
			continue
		}
		var values []*jsontree.Value
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
		s.Set("enum", jsontree.NewArray(list, values...))
		w.note(Constants, list, "%s of constants became enum", key)
		return true
	}
	return false
}

// listed are the values that a schema lists and takes; nil when it says anything else.
func listed(s *jsontree.Value) []*jsontree.Value {
	if isNull(s) && len(s.Members) == 1 {
		return []*jsontree.Value{{Kind: jsontree.Null, Pos: s.Pos, Pointer: s.Pointer}}
	}
	for _, name := range s.Names() {
		if !slices.Contains([]string{"const", "enum", "type"}, name) && !slices.Contains(annotating, name) {
			return nil
		}
	}
	var values []*jsontree.Value
	switch c, e := s.Get("const"), s.Get("enum"); {
	case c != nil && e == nil:
		values = []*jsontree.Value{c}
	case e.Is(jsontree.Array) && c == nil:
		values = e.Items
	}
	if t := s.Get("type"); t != nil && slices.ContainsFunc(values, func(v *jsontree.Value) bool { return !takes(s, v) }) {
		return nil
	}
	return values
}

// takes reports whether a value has a type that a schema lists.
func takes(s, v *jsontree.Value) bool {
	types := typesOf(s)
	switch v.Kind {
	case jsontree.Null:
		return slices.Contains(types, "null")
	case jsontree.Bool:
		return slices.Contains(types, "boolean")
	case jsontree.String:
		return slices.Contains(types, "string")
	case jsontree.Array:
		return slices.Contains(types, "array")
	case jsontree.Object:
		return slices.Contains(types, "object")
	}
	r := jsontree.Rat(v.Text)
	return slices.Contains(types, "number") && !onlyInteger(s) || onlyInteger(s) && (r == nil || r.IsInt())
}

// onlyInteger reports whether integer is the only type of numbers that a schema lists.
func onlyInteger(s *jsontree.Value) bool {
	t := s.Get("type")
	is := func(name string) bool {
		return t.IsText(name) || t.Is(jsontree.Array) && slices.ContainsFunc(t.Items, func(v *jsontree.Value) bool { return v.IsText(name) })
	}
	return is("integer") && !is("number")
}

func repeats(values []*jsontree.Value) bool {
	seen := map[string]bool{}
	for _, v := range values {
		c := jsontree.Canonical(v)
		if seen[c] {
			return true
		}
		seen[c] = true
	}
	return false
}

// typeOf names the one type of values besides null; empty when there are several, or one
// that lists nothing in a declaration.
func typeOf(values []*jsontree.Value) string {
	found := ""
	for _, v := range values {
		t := ""
		switch v.Kind {
		case jsontree.Null:
			continue
		case jsontree.String:
			t = "string"
		case jsontree.Bool:
			t = "boolean"
		case jsontree.Number:
			t = "number"
			if r := jsontree.Rat(v.Text); r != nil && r.IsInt() && (found == "" || found == "integer") {
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
