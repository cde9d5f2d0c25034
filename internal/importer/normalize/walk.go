package normalize

import (
	"iter"
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// subschemas yields the schemas directly inside of s that are objects, each with its keyword.
func subschemas(s *jsonschema.Value) iter.Seq2[string, *jsonschema.Value] {
	return func(yield func(string, *jsonschema.Value) bool) {
		for key, sub := range jsonschema.Subschemas(jsonschema.Values{}, s) {
			if sub.Is(jsonschema.Object) && !yield(key, sub) {
				return
			}
		}
	}
}

// places finds the schemas that must keep exactly their values: a narrower schema below
// not, if or a oneOf whose branches overlap makes the whole wider, and one below allOf
// narrower than it says. What a reference leads to from such a place is one, too.
func (w *work) places(s *jsonschema.Value, exact bool) {
	if known, seen := w.exact[s]; seen && (known || !exact) {
		return
	}
	w.exact[s] = exact
	if _, known := w.closing[s]; !known {
		w.closing[s] = w.close(s)
	}
	seen := s.Has("unevaluatedProperties")
	if w.closing[s] == evaluated && !exact && !w.Open {
		seen = true
		for p, referred := range w.parts(s) {
			w.partOf(p, referred)
		}
	}
	if target := w.target(s); target != nil {
		w.places(target, exact || seen || constrains(s, "$ref"))
	}
	for key, sub := range subschemas(s) {
		if key == "$defs" && !w.dynamic {
			continue // by the references that lead there
		}
		inner := exact
		switch key {
		case "allOf", "not", "if", "then", "else", "contains", "dependentSchemas", "propertyNames", "patternProperties",
			"unevaluatedItems", "unevaluatedProperties":
			inner = true
		case "oneOf":
			inner = exact || seen || constrains(s, key) || !w.toldApart(s.Get("oneOf").Items) && !onlyNull(s.Get("oneOf").Items)
		case "anyOf":
			inner = exact || seen || constrains(s, key)
		}
		w.places(sub, inner)
	}
}

// target is what the reference of a schema leads to in $defs; nil without one.
func (w *work) target(s *jsonschema.Value) *jsonschema.Value {
	ref := s.Get("$ref")
	if !ref.Is(jsonschema.String) || w.dynamic {
		return nil // of a schema with $dynamicRef the references stay as they are
	}
	const prefix = "#/$defs/"
	if len(ref.Text) <= len(prefix) || ref.Text[:len(prefix)] != prefix {
		return nil
	}
	return w.root.Get("$defs").Get(ref.Text[len(prefix):])
}

// constrains reports whether a schema says more of an object than one of its keywords.
func constrains(s *jsonschema.Value, but string) bool {
	return slices.ContainsFunc([]string{"properties", "patternProperties", "required", "allOf", "anyOf", "oneOf", "not", "if", "$ref", "dependentSchemas"},
		func(key string) bool { return key != but && s.Has(key) })
}

// onlyNull reports whether a union has one branch besides null, so that no two overlap.
func onlyNull(branches []*jsonschema.Value) bool {
	rest := 0
	for _, b := range branches {
		if !isNull(b) {
			rest++
		}
	}
	return rest <= 1
}

func isNull(s *jsonschema.Value) bool {
	if !s.Is(jsonschema.Object) {
		return false
	}
	if c := s.Get("const"); c.Is(jsonschema.Null) {
		return true
	}
	return s.Get("type").IsText("null")
}
