package normalize

import (
	"iter"
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// The parts of a schema are those that it applies to the same value: what they say of the members of
// an object counts for unevaluatedProperties of it. An object whose parts name members that
// it does not is closed by that keyword; its parts then stay open without saying
// so, since additionalProperties: true would count as well.

// A closing is what an object without additionalProperties takes besides its members when it is closed.
type closing int

const (
	declared   closing = iota // what its properties name
	evaluated                 // what its properties and its parts name
	byBranches                // what its branches take, which are closed themselves
	asSaid                    // anything: a part says so
)

// parts yields the parts of a schema, referred says that a reference leads to it.
func (w *work) parts(s *jsonschema.Value) iter.Seq2[*jsonschema.Value, bool] {
	return func(yield func(*jsonschema.Value, bool) bool) {
		if to := w.target(s); to != nil && !yield(to, true) {
			return
		}
		for key, sub := range subschemas(s) {
			switch key {
			case "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas":
				if !yield(sub, false) {
					return
				}
			}
		}
	}
}

// partOf notes that a schema is a part of an object that unevaluatedProperties closes.
func (w *work) partOf(s *jsonschema.Value, referred bool) {
	if was, seen := w.part[s]; seen && (was || !referred) {
		return
	}
	w.part[s] = referred
	for p, by := range w.parts(s) {
		w.partOf(p, referred || by)
	}
}

// A naming is what the parts of an object say of its members.
type naming struct {
	names    map[string]bool
	required []*jsonschema.Value
	patterns bool // they name some by patterns
	others   bool // they say what other members are
}

func (w *work) naming(s *jsonschema.Value) *naming {
	n := &naming{names: map[string]bool{}}
	seen := map[*jsonschema.Value]bool{s: true}
	n.needs(s)
	var visit func(s *jsonschema.Value)
	visit = func(s *jsonschema.Value) {
		for p := range w.parts(s) {
			if seen[p] {
				continue
			}
			seen[p] = true
			for _, m := range members(p, "properties") {
				n.names[m.Name] = true
			}
			rest := p.Get("additionalProperties")
			n.others = n.others || p.Has("unevaluatedProperties") || rest != nil && (!rest.Is(jsonschema.Bool) || rest.Bool)
			n.patterns = n.patterns || p.Has("patternProperties")
			n.wants(p.Get("required"))
			n.needs(p)
			visit(p)
		}
	}
	visit(s)
	return n
}

func (n *naming) wants(list *jsonschema.Value) {
	if list.Is(jsonschema.Array) {
		n.required = append(n.required, list.Items...)
	}
}

func (n *naming) needs(s *jsonschema.Value) {
	for _, m := range members(s, "dependentRequired") {
		n.wants(m.Value)
	}
}

// isObject reports whether a schema is one of objects, that may say what other members they have.
func isObject(s *jsonschema.Value) bool {
	return (slices.Contains(typesOf(s), "object") || s.Has("properties")) && !s.Has("additionalProperties") && !s.Has("unevaluatedProperties")
}

// seen notes the parts of the objects that say unevaluatedProperties themselves.
func (w *work) seen(s *jsonschema.Value) {
	if s.Has("unevaluatedProperties") {
		for p, referred := range w.parts(s) {
			w.partOf(p, referred)
		}
	}
	for _, sub := range subschemas(s) {
		w.seen(sub)
	}
}

// close decides how an object is closed that says nothing about other members. Members that are only
// required somewhere become properties: closed without them it would take no value.
func (w *work) close(s *jsonschema.Value) closing {
	if !isObject(s) || !applies(s) {
		return declared
	}
	if u := cmpOr(s.Get("oneOf"), s.Get("anyOf")); u.Is(jsonschema.Array) && !others(s) && w.toldApart(u.Items) {
		return byBranches
	}
	n := w.naming(s)
	if n.others || s.Has("enum") || s.Has("const") {
		return asSaid
	}
	if _, part := w.part[s]; !part {
		w.declare(s, n)
	}
	if n.patterns {
		return evaluated
	}
	for name := range n.names {
		if !s.Get("properties").Has(name) {
			return evaluated
		}
	}
	return declared
}

// declare makes properties of the members that are only required.
func (w *work) declare(s *jsonschema.Value, n *naming) {
	own := s.Get("required")
	if own.Is(jsonschema.Array) {
		n.required = append(slices.Clone(own.Items), n.required...)
	}
	for _, name := range n.required {
		wanted := own.Is(jsonschema.Array) && slices.Contains(own.Items, name)
		if !name.Is(jsonschema.String) || s.Get("properties").Has(name.Text) || n.names[name.Text] && !wanted {
			continue
		}
		if !s.Get("properties").Is(jsonschema.Object) {
			s.Set("properties", jsonschema.NewObject(s))
		}
		s.Get("properties").Set(name.Text, jsonschema.NewObject(name))
		w.note(Required, s, "member %s is required only: declared with any value", shown(name.Text))
	}
}

func cmpOr(a, b *jsonschema.Value) *jsonschema.Value {
	if a != nil {
		return a
	}
	return b
}

// others reports whether a schema says more of an object than that one of its branches fits.
func others(s *jsonschema.Value) bool {
	return slices.ContainsFunc(s.Names(), func(name string) bool {
		return name != "type" && name != "oneOf" && name != "anyOf" && name != "$defs" && !slices.Contains(annotating, name)
	}) || s.Has("oneOf") && s.Has("anyOf")
}
