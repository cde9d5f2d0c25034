package normalize

import (
	"iter"
	"slices"

	"github.com/ambit-tools/ambit/internal/importer/jsontree"
)

// Where the keywords of JSON Schema, of any draft, hold schemas.
var (
	inMembers = []string{"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"}
	inPlace   = []string{"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains",
		"propertyNames", "not", "if", "then", "else", "contentSchema"}
	inLists = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
)

// subschemas yields the schemas directly inside of s that are objects, each with its keyword.
func subschemas(s *jsontree.Value) iter.Seq2[string, *jsontree.Value] {
	return func(yield func(string, *jsontree.Value) bool) {
		for _, key := range inMembers {
			for _, m := range members(s, key) {
				if m.Value.Is(jsontree.Object) && !yield(key, m.Value) {
					return
				}
			}
		}
		for _, key := range inPlace {
			if v := s.Get(key); v.Is(jsontree.Object) && !yield(key, v) {
				return
			}
		}
		for _, key := range inLists {
			if v := s.Get(key); v.Is(jsontree.Array) {
				for _, item := range v.Items {
					if item.Is(jsontree.Object) && !yield(key, item) {
						return
					}
				}
			}
		}
	}
}

// places finds the schemas that must keep exactly their values: a narrower schema below
// not, if or a oneOf whose branches overlap makes the whole wider, and one below allOf
// narrower than it says. What a reference leads to from such a place is one, too.
func (w *work) places(s *jsontree.Value, exact bool) {
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
func (w *work) target(s *jsontree.Value) *jsontree.Value {
	ref := s.Get("$ref")
	if !ref.Is(jsontree.String) || w.dynamic {
		return nil // of a schema with $dynamicRef the references stay as they are
	}
	const prefix = "#/$defs/"
	if len(ref.Text) <= len(prefix) || ref.Text[:len(prefix)] != prefix {
		return nil
	}
	return w.root.Get("$defs").Get(ref.Text[len(prefix):])
}

// constrains reports whether a schema says more of an object than one of its keywords.
func constrains(s *jsontree.Value, but string) bool {
	return slices.ContainsFunc([]string{"properties", "patternProperties", "required", "allOf", "anyOf", "oneOf", "not", "if", "$ref", "dependentSchemas"},
		func(key string) bool { return key != but && s.Has(key) })
}

// onlyNull reports whether a union has one branch besides null, so that no two overlap.
func onlyNull(branches []*jsontree.Value) bool {
	rest := 0
	for _, b := range branches {
		if !isNull(b) {
			rest++
		}
	}
	return rest <= 1
}

func isNull(s *jsontree.Value) bool {
	if !s.Is(jsontree.Object) {
		return false
	}
	if c := s.Get("const"); c.Is(jsontree.Null) {
		return true
	}
	return s.Get("type").IsText("null")
}
