package dialect

import "slices"

// plainRoot returns a schema for a provider that does not hold a model to it. Such a provider takes
// any JSON Schema of an object, without a union, a reference or a list of values at the root.
func plainRoot(source *object, d Dialect) (*object, []Note) {
	w := newRewriter(source, d)
	s := w.spread(w.flatten(source, true)).without("$schema", "$id")
	var r remark
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else"} {
		v, ok := s.get(keyword)
		if !ok {
			continue
		}
		if r.add(keyword, v) {
			w.note(s, keyword, Described, "the description says it: no provider takes it at the root of a schema")
		} else {
			w.note(s, keyword, Dropped, "no provider takes it at the root of a schema, and it is too long for a description")
		}
		s = s.without(keyword)
	}
	w.never(s)
	if len(r.said) > 0 {
		s = &object{at: s.at, members: slices.Clone(s.members)}
		r.on(s)
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
	w.checkNames(s)
	if d == OpenAI {
		head = w.withItems(head, true)
	}
	return head, w.notes
}

// withItems returns a schema, and all in it, with items for each array: OpenAI refuses a request, with all its tools, in
// which an array has none. unevaluatedItems, which items beside it would make void, is described. root says that the
// schema is an object.
func (w *rewriter) withItems(s *object, root bool) *object {
	out := &object{at: s.at, members: slices.Clone(s.members)}
	for i, m := range out.members {
		switch {
		case byNames[m.name]:
			if named, ok := m.value.(*object); ok {
				all := &object{at: named.at, members: slices.Clone(named.members)}
				for i, m := range all.members {
					all.members[i].value = w.eachItems(m.value)
				}
				out.members[i].value = all
			}
		case holdsSchemas(m.name):
			out.members[i].value = w.eachItems(m.value)
		}
	}
	if more, ok := out.get("unevaluatedItems"); ok {
		i := slices.IndexFunc(out.members, func(m member) bool { return m.name == "unevaluatedItems" })
		switch {
		case out.has("items"): // each element is evaluated
			out = out.without("unevaluatedItems")
		case !slices.ContainsFunc(applicators, out.has):
			out.members[i].name = "items"
		default:
			out = out.without("unevaluatedItems")
			var r remark
			effect, why := Dropped, "each array needs items for the provider, beside which it says nothing; it is too long for a description"
			if r.add("unevaluatedItems", more) {
				effect, why = Described, "the description says it: each array needs items for the provider, beside which it says nothing"
				r.on(out)
			}
			w.note(s, "unevaluatedItems", effect, "%s", why)
		}
	}
	if types, _ := out.types(); !root && !out.has("items") && slices.Contains(types, "array") {
		out.members = append(out.members, member{name: "items", value: made()})
	}
	return out
}

// eachItems returns a schema, or a list of schemas, with items for each array.
func (w *rewriter) eachItems(v any) any {
	switch x := v.(type) {
	case *object:
		return w.withItems(x, false)
	case []any:
		out := make([]any, len(x))
		for i, v := range x {
			out[i] = w.eachItems(v)
		}
		return out
	}
	return v
}
