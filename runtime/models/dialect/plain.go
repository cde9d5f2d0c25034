package dialect

// plainRoot returns a schema for a provider that does not hold a model to it. Such a provider takes
// any JSON Schema of an object, without a union, a reference or a list of values at the root.
func plainRoot(source *object, d Dialect) (*object, []Note) {
	w := newRewriter(source, d)
	s := w.flatten(source, true).without("$schema", "$id")
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else"} {
		if s.has(keyword) {
			w.note(s, keyword, Dropped, "no provider takes it at the root of a schema")
			s = s.without(keyword)
		}
	}
	w.never(s)
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
	w.checkNames(s)
	return head, w.notes
}
