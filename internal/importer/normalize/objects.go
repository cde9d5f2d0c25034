package normalize

import (
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// object says what an object takes besides its members.
func (w *work) object(s *jsonschema.Value) {
	w.required(s)
	if v := s.Get("additionalProperties"); v.Is(jsonschema.Object) && len(v.Members) == 0 {
		s.Set("additionalProperties", jsonschema.NewBool(true, v))
	}
	if v := s.Get("unevaluatedProperties"); v.Is(jsonschema.Bool) && !v.Bool && !s.Has("additionalProperties") && !applies(s) {
		s.Rename("unevaluatedProperties", "additionalProperties")
		w.note(Additional, v, "unevaluatedProperties: false became additionalProperties: false")
	}
	if !isObject(s) || s.Has("$ref") && !s.Has("properties") && !applies(s, "$ref") {
		return
	}
	referred, isPart := w.part[s]
	empty := len(members(s, "properties")) == 0 && !s.Has("patternProperties")
	how := w.closing[s]
	switch {
	case isPart, w.dynamic && mentions(w.root, "unevaluatedProperties"):
		w.stayOpen(s, referred || w.dynamic)
	case how == byBranches:
	case w.Arguments && s == w.root && empty && s.Has("properties") && !applies(s) && !w.Open:
		s.Set("additionalProperties", jsonschema.NewBool(false, s))
		w.note(Closed, s, "no arguments are declared, and none are taken")
	case empty && how == declared:
		s.Delete("properties")
		s.Set("additionalProperties", jsonschema.NewBool(true, s))
		w.note(Opened, s, "an object without members takes any")
	case w.Open || w.exact[s] || how == asSaid:
		s.Set("additionalProperties", jsonschema.NewBool(true, s))
	case how == evaluated && applies(s):
		s.Set("unevaluatedProperties", jsonschema.NewBool(false, s))
		w.note(Closed, s, "members that neither it nor its parts name are refused, which the source accepts")
	default:
		s.Set("additionalProperties", jsonschema.NewBool(false, s))
		w.note(Closed, s, "other members are refused, which the source accepts")
	}
}

// stayOpen keeps a part open without saying what other members are. An object that stands in $defs would
// be closed on its own.
func (w *work) stayOpen(s *jsonschema.Value, referred bool) {
	if !referred || s.Has("patternProperties") {
		return
	}
	none := jsonschema.NewObject(s)
	none.Comment = "leaves other members to the object that it is a part of"
	s.Set("patternProperties", none)
	w.note(Part, s, "patternProperties: {} added: other members are for the object that it is a part of")
}

// applies reports whether a schema applies parts of it to the same value, besides those of a keyword.
func applies(s *jsonschema.Value, but ...string) bool {
	return slices.ContainsFunc([]string{"allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "dependentSchemas", "dependentRequired", "patternProperties", "enum", "const"},
		func(key string) bool { return s.Has(key) && !slices.Contains(but, key) })
}

func mentions(s *jsonschema.Value, key string) bool {
	if s.Has(key) {
		return true
	}
	for _, sub := range subschemas(s) {
		if mentions(sub, key) {
			return true
		}
	}
	return false
}

// required removes repetitions, and declares the members that are only required.
func (w *work) required(s *jsonschema.Value) {
	list := s.Get("required")
	if !list.Is(jsonschema.Array) {
		return
	}
	if len(list.Items) == 0 || repeats(list.Items) {
		seen := map[string]bool{}
		kept := slices.DeleteFunc(slices.Clone(list.Items), func(v *jsonschema.Value) bool {
			twice := seen[v.Text]
			seen[v.Text] = true
			return twice
		})
		s.Delete("required")
		if len(kept) > 0 {
			s.Set("required", jsonschema.NewArray(list, kept...))
		}
		w.note(Required, list, "repeated or empty required put right")
		list = s.Get("required")
	}
	if list == nil || !slices.Contains(typesOf(s), "object") || applies(s) {
		return
	}
	rest := s.Get("additionalProperties")
	if _, part := w.part[s]; part || s.Has("unevaluatedProperties") {
		return // what a part names counts for the object that it is a part of
	}
	if rest.Is(jsonschema.Bool) && !rest.Bool {
		return // no object fits: the declaration says so
	}
	for _, name := range list.Items {
		if !name.Is(jsonschema.String) || s.Get("properties").Has(name.Text) {
			continue
		}
		if !s.Has("properties") {
			s.Set("properties", jsonschema.NewObject(list))
		}
		member := jsonschema.NewObject(name)
		if rest.Is(jsonschema.Object) {
			member = rest.Clone()
		}
		s.Get("properties").Set(name.Text, member)
		w.note(Required, name, "member %s is required only: declared with any value", shown(name.Text))
	}
}

// tags writes unions of objects that a constant member tells apart as a declaration does.
func (w *work) tags(s *jsonschema.Value) {
	key := "oneOf"
	list := s.Get(key)
	if list == nil && !s.Has("oneOf") {
		key = "anyOf"
		list = s.Get(key)
	}
	if !list.Is(jsonschema.Array) || !w.toldApart(list.Items) {
		return
	}
	for _, b := range list.Items {
		w.tagConst(b)
	}
	if key == "anyOf" {
		s.Rename("anyOf", "oneOf")
		w.note(Tagged, list, "anyOf of objects told apart by a member became oneOf")
	}
	if t := s.Get("type"); t.IsText("object") {
		s.Delete("type")
		w.note(NoEffect, t, "type removed: every branch says it")
	}
}

// tagConst writes enums of one text as const in a branch.
func (w *work) tagConst(b *jsonschema.Value) {
	if target := w.target(b); target != nil {
		b = target
	}
	for _, m := range members(b, "properties") {
		if e := m.Value.Get("enum"); e.Is(jsonschema.Array) && len(e.Items) == 1 && e.Items[0].Is(jsonschema.String) && !m.Value.Has("const") {
			m.Value.Rename("enum", "const")
			m.Value.Set("const", e.Items[0])
			w.note(Constants, e, "enum of one text became const")
		}
	}
}

// toldApart reports whether all branches are objects with a required member of one name
// that has a constant text of its own in each.
func (w *work) toldApart(branches []*jsonschema.Value) bool {
	if len(branches) < 2 {
		return false
	}
	found := map[string]map[string]bool{}
	for _, b := range branches {
		if target := w.target(b); target != nil {
			b = target
		}
		if !b.Get("type").IsText("object") {
			return false
		}
		list := b.Get("required")
		for _, m := range members(b, "properties") {
			text := constant(m.Value)
			if text == nil || !list.Is(jsonschema.Array) || !slices.ContainsFunc(list.Items, func(v *jsonschema.Value) bool { return v.IsText(m.Name) }) {
				continue
			}
			if found[m.Name] == nil {
				found[m.Name] = map[string]bool{}
			}
			found[m.Name][text.Text] = true
		}
	}
	for _, texts := range found {
		if len(texts) == len(branches) {
			return true
		}
	}
	return false
}

// constant is the only text that a schema takes; nil when there is none.
func constant(s *jsonschema.Value) *jsonschema.Value {
	c := s.Get("const")
	if e := s.Get("enum"); c == nil && e.Is(jsonschema.Array) && len(e.Items) == 1 {
		c = e.Items[0]
	}
	if !c.Is(jsonschema.String) {
		return nil
	}
	return c
}
