package dialect

import (
	"encoding/json"
	"slices"
	"strconv"
)

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// byType rewrites a schema of values of several types into a union with a branch for each.
func (w *rewriter) byType(s *object, types []string, null bool) *object {
	var branches []any
	values, listed := s.literals()
	for _, t := range types {
		if listed && !slices.ContainsFunc(values, func(v any) bool { return isOf(v, t) }) {
			continue
		}
		branches = append(branches, w.typed(s.without(append([]string{"title", "description"}, told...)...), t))
	}
	if null && (!listed || slices.Contains(values, nil)) {
		branches = append(branches, made("type", "null"))
	}
	keyword := "enum"
	if s.has("const") {
		keyword = "const"
	}
	return w.unite(s, keyword, branches)
}

// unite returns the union of rewritten branches, which a keyword of s asks for, with the title and
// description of s.
func (w *rewriter) unite(s *object, keyword string, nodes []any) *object {
	var branches []any
	for _, node := range nodes {
		o := node.(*object)
		if inner := o.list("anyOf"); inner != nil && len(o.members) == 1 { // a union in a union
			w.unions--
			branches = append(branches, inner...)
		} else {
			branches = append(branches, node)
		}
	}
	switch len(branches) {
	case 0:
		w.note(s, keyword, w.atWorst(Dropped), "no value is allowed here")
		return w.titled(s, made())
	case 1:
		only := branches[0].(*object)
		if !only.has("title") && !only.has("description") && !only.has("$ref") {
			return w.titled(s, only)
		}
	}
	w.unions++
	return w.titled(s, made("anyOf", branches))
}

// union rewrites anyOf and oneOf. What stands beside them is merged into each branch.
func (w *rewriter) union(s *object) *object {
	keyword := "anyOf"
	if s.has("oneOf") {
		if keyword = "oneOf"; s.has("anyOf") {
			w.note(s, "anyOf", Dropped, "beside oneOf it cannot be said")
			s = s.without("anyOf")
		}
	}
	branches, rest := s.list(keyword), s.without(keyword)
	if keyword == "oneOf" && !w.apart(branches) {
		w.note(s, keyword, Changed, "it is anyOf: a value that several branches allow is allowed too")
	}
	beside := rest.without()
	beside.members = slices.DeleteFunc(beside.members, func(m member) bool { return annotates(m.name) })
	var out []any
	for _, branch := range branches {
		if branch == false {
			continue
		}
		b, ok := branch.(*object)
		if ok && len(beside.members) > 0 {
			merged, ok := w.apply(beside, b, b)
			if !ok {
				w.note(s, keyword, Dropped, "it contradicts, or cannot be merged with, what stands beside it")
				return w.node(rest, s.at)
			}
			merged.at = b.at
			b = merged
			branch = b
		}
		out = append(out, w.node(branch, s.at))
	}
	return w.unite(s, keyword, out)
}

// apart reports whether no value can be of two branches: they have different types, or are objects
// that a required member tells apart.
func (w *rewriter) apart(branches []any) bool {
	var nodes []*object
	for _, b := range branches {
		o, ok := b.(*object)
		for ok && o.has("$ref") {
			if o, _ = w.target(o); o == nil || o.has("$ref") {
				return false
			}
		}
		if !ok {
			return false
		}
		nodes = append(nodes, o)
	}
	for i, a := range nodes {
		for _, b := range nodes[:i] {
			if !differ(a, b) {
				return false
			}
		}
	}
	return true
}

// differ reports whether no value is of both schemas, as far as their types and the values that they
// list say.
func differ(a, b *object) bool {
	if x, ok := a.literals(); ok {
		if y, ok := b.literals(); ok {
			return !slices.ContainsFunc(x, func(v any) bool { return slices.ContainsFunc(y, func(u any) bool { return equal(u, v) }) })
		}
	}
	ta, nullA := a.types()
	tb, nullB := b.types()
	if nullA && nullB || len(ta) == 0 && !nullA || len(tb) == 0 && !nullB {
		return false
	}
	common := slices.ContainsFunc(ta, func(t string) bool {
		return slices.Contains(tb, t) || t == "integer" && slices.Contains(tb, "number") || t == "number" && slices.Contains(tb, "integer")
	})
	if !common {
		return true
	}
	pa, pb := a.object("properties"), b.object("properties")
	if !slices.Equal(ta, []string{"object"}) || !slices.Equal(tb, ta) || nullA || nullB || pa == nil || pb == nil {
		return false
	}
	for _, name := range a.strings("required") {
		x, y := pa.object(name), pb.object(name)
		if x == nil || y == nil || !slices.Contains(b.strings("required"), name) {
			continue
		}
		_, listedX := x.literals()
		_, listedY := y.literals()
		if listedX && listedY && differ(x, y) {
			return true
		}
	}
	return false
}
