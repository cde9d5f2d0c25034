package dialect

import (
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// sourceAdmitsNull reports whether a schema that is not rewritten allows null. One that refers to itself only
// allows nothing.
func (w *rewriter) sourceAdmitsNull(v *value) bool {
	for { // until no more schemas are found to allow it: one that was asked for while it was answered said no
		round := nulls{w: w, asked: map[*value]bool{}}
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
	asked map[*value]bool
	found bool // one that was not known to
}

func (n *nulls) admits(s *value) bool {
	if !s.Is(jsonschema.Object) || n.w.null[s] || n.asked[s] {
		return s.IsTrue() || n.w.null[s]
	}
	n.asked[s] = true
	if n.says(s) {
		n.w.null[s], n.found = true, true
	}
	return n.w.null[s]
}

func (n *nulls) says(s *value) bool {
	if target, _ := n.w.target(s); target != nil && !n.admits(target) {
		return false
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s.Has(keyword) && !slices.ContainsFunc(s.ListOf(keyword), n.admits) {
			return false
		}
	}
	if slices.ContainsFunc(s.ListOf("allOf"), func(v *value) bool { return !n.admits(v) }) {
		return false
	}
	if values, ok := literals(s); ok && !slices.ContainsFunc(values, isNull) {
		return false
	}
	types, null := types(s)
	return null || len(types) == 0
}

// leaveOut returns the schema of a member that may be left out: nullable, since a strict schema of
// OpenAI has all its members. in is the object that has the member, at the place where it is declared.
func (w *rewriter) leaveOut(node, in *value, at, name string) *value {
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
	_, literal := literals(node)
	if t := node.TextOf("type"); t != "" && t != "object" && t != "array" && !literal {
		set(node, "type", []string{t, "null"})
		return node
	}
	null := made("type", "null")
	if list := node.ListOf("anyOf"); list != nil {
		set(node, "anyOf", append(slices.Clone(list), null))
		return node
	}
	w.unions++
	out := made()
	for _, keyword := range []string{"title", "description"} {
		if text := node.TextOf(keyword); text != "" {
			set(out, keyword, text)
		}
	}
	inner := *node.Without("title", "description")
	*node = inner // the object keeps its identity: made refers to it
	set(out, "anyOf", []*value{node, null})
	return out
}

// admitsNull reports whether a rewritten schema allows null. seen are the references that were followed.
func (w *rewriter) admitsNull(node *value, seen map[string]bool) bool {
	if ref := node.TextOf("$ref"); ref != "" {
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
	if node.TextOf("type") == "null" || slices.Contains(node.TextsOf("type"), "null") {
		return true
	}
	for _, branch := range node.ListOf("anyOf") {
		if w.admitsNull(branch, seen) {
			return true
		}
	}
	return false
}
