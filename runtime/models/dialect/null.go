package dialect

import "slices"

// sourceAdmitsNull reports whether a schema that is not rewritten allows null. One that refers to itself only
// allows nothing.
func (w *rewriter) sourceAdmitsNull(v any) bool {
	for { // until no more schemas are found to allow it: one that was asked for while it was answered said no
		round := nulls{w: w, asked: map[*object]bool{}}
		if round.admits(v) {
			return true
		}
		if !round.found {
			return false
		}
	}
}

// A nulls asks schemas once each whether they allow null.
type nulls struct {
	w     *rewriter
	asked map[*object]bool
	found bool // one that was not known to
}

func (n *nulls) admits(v any) bool {
	s, ok := v.(*object)
	if !ok || n.w.null[s] || n.asked[s] {
		return v == true || ok && n.w.null[s]
	}
	n.asked[s] = true
	if n.says(s) {
		n.w.null[s], n.found = true, true
	}
	return n.w.null[s]
}

func (n *nulls) says(s *object) bool {
	if target, _ := n.w.target(s); target != nil && !n.admits(target) {
		return false
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s.has(keyword) && !slices.ContainsFunc(s.list(keyword), n.admits) {
			return false
		}
	}
	if slices.ContainsFunc(s.list("allOf"), func(v any) bool { return !n.admits(v) }) {
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
	if w.admitsNull(node, map[string]bool{}) {
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

// admitsNull reports whether a rewritten schema allows null. seen are the references that were followed.
func (w *rewriter) admitsNull(node *object, seen map[string]bool) bool {
	if ref := node.text("$ref"); ref != "" {
		if seen[ref] {
			return false
		}
		seen[ref] = true
		if def := w.definition(ref); def != nil {
			return w.admitsNull(def, seen)
		}
		for target, name := range w.defined { // it is being rewritten: its source says
			if refTo(name) == ref {
				return w.sourceAdmitsNull(target)
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
