package dialect

// plainRoot returns a schema for a provider that does not hold a model to it. Such a provider takes
// any JSON Schema of an object, without a union, a reference or a list of values at the root.
func plainRoot(source *object) (*object, []Note) {
	w := newRewriter(source, Gemini) // refuses nothing
	s := w.flatten(source, true).without("$schema", "$id")
	w.notes = nil
	for _, keyword := range []string{"$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else"} {
		if s.has(keyword) {
			w.note("", keyword, Dropped, "no provider takes it at the root of a schema")
			s = s.without(keyword)
		}
	}
	if source.has("allOf") && !s.has("properties") {
		w.note("", "allOf", Dropped, "its branches cannot be merged into one schema")
	}
	head := made("type", "object")
	if !s.has("properties") {
		head.set("properties", made())
	}
	for _, keyword := range []string{"$defs", "definitions"} {
		if defs, ok := source.get(keyword); ok && !s.has(keyword) {
			head.set(keyword, defs)
		}
	}
	s = s.without("type")
	head.members = append(head.members[:1:1], append(s.members, head.members[1:]...)...)
	return head, w.notes
}
