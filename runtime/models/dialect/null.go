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
	if target, _ := w.target(s); target != nil && !admits(target) {
		return false
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

// leaveOut returns the schema of a member that may be left out: nullable, since a strict schema of
// OpenAI has all its members. in is the object that has the member, at the place where it is declared.
func (w *rewriter) leaveOut(node, in *object, at, name string) *object {
	if w.admitsNull(node, nil) {
		w.noteAt(at, "required", Changed, "the member cannot be left out: null is null, as the schema says")
		return node
	}
	if w.made[in] == nil {
		w.made[in] = map[string]string{}
	}
	w.made[in][name] = at
	if !slices.Contains(w.nullable, at) {
		w.nullable = append(w.nullable, at)
	}
	_, literal := node.literals()
	if t := node.text("type"); t != "" && t != "object" && t != "array" && !literal {
		node.set("type", []any{t, "null"})
		return node
	}
	null := made("type", "null")
	if list := node.list("anyOf"); list != nil {
		node.set("anyOf", append(slices.Clone(list), null))
		return node
	}
	w.unions++
	out := made()
	for _, keyword := range []string{"title", "description"} {
		if text := node.text(keyword); text != "" {
			out.set(keyword, text)
		}
	}
	inner := *node.without("title", "description")
	*node = inner // the object keeps its identity: made refers to it
	out.set("anyOf", []any{node, null})
	return out
}

// admitsNull reports whether a rewritten schema allows null.
func (w *rewriter) admitsNull(node *object, seen []string) bool {
	if ref := node.text("$ref"); ref != "" {
		if slices.Contains(seen, ref) {
			return false
		}
		if def := w.definition(ref); def != nil {
			return w.admitsNull(def, append(seen, ref))
		}
		for target, name := range w.defined { // it is being rewritten: its source says
			if refTo(name) == ref {
				return w.sourceAdmitsNull(target, 0)
			}
		}
		return false
	}
	if node.text("type") == "null" || slices.Contains(node.strings("type"), "null") {
		return true
	}
	for _, branch := range node.list("anyOf") {
		if w.admitsNull(branch.(*object), seen) {
			return true
		}
	}
	return false
}
