package dialect

import "slices"

// sourceAdmitsNull reports whether a schema that is not rewritten allows null. depth is how many
// schemas led to it: one that refers to itself only allows nothing.
func (w *rewriter) sourceAdmitsNull(v any, depth int) bool {
	s, ok := v.(*object)
	if !ok || depth > maxDepth {
		return v == true
	}
	admits := func(v any) bool { return w.sourceAdmitsNull(v, depth+1) }
	if ref := s.text("$ref"); ref != "" {
		if target := w.source.resolve(ref); target != nil && !admits(target) {
			return false
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s.has(keyword) && !slices.ContainsFunc(s.list(keyword), admits) {
			return false
		}
	}
	if slices.ContainsFunc(s.list("allOf"), func(v any) bool { return !admits(v) }) {
		return false
	}
	if values, ok := s.literals(); ok && !slices.Contains(values, nil) {
		return false
	}
	types, null := s.types()
	return null || len(types) == 0
}
