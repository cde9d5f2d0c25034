package dialect

import (
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

func number(n int) *value { return &value{Kind: jsonschema.Number, Text: strconv.Itoa(n)} }

// byType rewrites a schema of values of several types into a union with a branch for each.
func (w *rewriter) byType(s *value, types []string, null bool) *value {
	var branches []*value
	values, listed := literals(s)
	for _, t := range types {
		if listed && !slices.ContainsFunc(values, func(v *value) bool { return isOf(v, t) }) {
			continue
		}
		branches = append(branches, w.typed(s.Without(append([]string{"title", "description"}, told...)...), t))
	}
	if null && (!listed || slices.ContainsFunc(values, isNull)) {
		branches = append(branches, made("type", "null"))
	}
	keyword := "enum"
	if s.Has("const") {
		keyword = "const"
	}
	return w.unite(s, keyword, branches)
}

// unite returns the union of rewritten branches, which a keyword of s asks for, with the title and
// description of s.
func (w *rewriter) unite(s *value, keyword string, nodes []*value) *value {
	var branches []*value
	for _, node := range nodes {
		if inner := node.ListOf("anyOf"); inner != nil && len(node.Members) == 1 { // a union in a union
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
		only := branches[0]
		if !only.Has("title") && !only.Has("description") && !only.Has("$ref") {
			return w.titled(s, only)
		}
	}
	w.unions++
	return w.titled(s, made("anyOf", branches))
}

// union rewrites anyOf and oneOf. What stands beside them is merged into each branch.
func (w *rewriter) union(s *value) *value {
	keyword := "anyOf"
	if s.Has("oneOf") {
		if keyword = "oneOf"; s.Has("anyOf") {
			w.note(s, "anyOf", Dropped, "beside oneOf it cannot be said")
			s = s.Without("anyOf")
		}
	}
	branches, rest := s.ListOf(keyword), s.Without(keyword)
	if keyword == "oneOf" && !w.apart(branches) {
		w.note(s, keyword, Changed, "it is anyOf: a value that several branches allow is allowed too")
	}
	beside := rest.Without()
	beside.Members = slices.DeleteFunc(beside.Members, func(m *member) bool { return annotates(m.Name) })
	var out []*value
	for _, branch := range branches {
		if branch.IsFalse() {
			continue
		}
		if branch.Is(jsonschema.Object) && len(beside.Members) > 0 {
			merged, ok := w.apply(beside, branch, branch)
			if !ok {
				w.note(s, keyword, Dropped, "it contradicts, or cannot be merged with, what stands beside it")
				return w.node(rest, s.Pointer)
			}
			merged.Pointer = branch.Pointer
			branch = merged
		}
		out = append(out, w.node(branch, s.Pointer))
	}
	return w.unite(s, keyword, out)
}

// apart reports whether no value can be of two branches: they have different types, or are objects
// that a required member tells apart.
func (w *rewriter) apart(branches []*value) bool {
	var nodes []*value
	for _, o := range branches {
		if o.Has("$ref") {
			if o, _ = w.target(o); o == nil || o.Has("$ref") {
				return false
			}
		}
		if !o.Is(jsonschema.Object) {
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
func differ(a, b *value) bool {
	if x, ok := literals(a); ok {
		if y, ok := literals(b); ok {
			return !slices.ContainsFunc(x, func(v *value) bool { return holds(y, v) })
		}
	}
	ta, nullA := types(a)
	tb, nullB := types(b)
	if nullA && nullB || len(ta) == 0 && !nullA || len(tb) == 0 && !nullB {
		return false
	}
	common := slices.ContainsFunc(ta, func(t string) bool {
		return slices.Contains(tb, t) || t == "integer" && slices.Contains(tb, "number") || t == "number" && slices.Contains(tb, "integer")
	})
	if !common {
		return true
	}
	pa, pb := a.ObjectOf("properties"), b.ObjectOf("properties")
	if !slices.Equal(ta, []string{"object"}) || !slices.Equal(tb, ta) || nullA || nullB || pa == nil || pb == nil {
		return false
	}
	for _, name := range a.TextsOf("required") {
		x, y := pa.ObjectOf(name), pb.ObjectOf(name)
		if x == nil || y == nil || !slices.Contains(b.TextsOf("required"), name) {
			continue
		}
		_, listedX := literals(x)
		_, listedY := literals(y)
		if listedX && listedY && differ(x, y) {
			return true
		}
	}
	return false
}
