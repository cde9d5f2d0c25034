package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// A spot is where a reference into data can lead: to one place, or, behind a
// part that is no constant, to one of several. Without any it is not known.
type spot struct {
	path ast.Ref // as far as it was followed
	docs []doc
}

// A doc is one place in data: what packages hold there, and base data.
type doc struct {
	node  *ast.TreeNode
	value any
}

// rootOf returns where references into data begin.
func rootOf(b *policydir.Bundle, c *ast.Compiler) spot {
	return spot{ast.Ref{ast.DefaultRootDocument}, []doc{{c.RuleTree.Child(ast.DefaultRootDocument.Value), b.Data}}}
}

// step follows one part of a reference. closed says that there is nothing of that name.
func (s spot) step(t *ast.Term) (next spot, closed bool) {
	name, isName := t.Value.(ast.String)
	if !isName {
		t = ast.VarTerm(ast.WildcardPrefix)
	}
	next.path = s.path.Append(t)
	named := false // members of the places have names
	for _, d := range s.docs {
		switch {
		case d.node != nil && len(d.node.Values) > 0:
			return spot{path: next.path}, false // the value of a rule: the type checker's business
		case isName:
			member, ok := d.member(name)
			if ok {
				next.docs = append(next.docs, member)
			}
			named = named || d.named()
		default:
			next.docs = append(next.docs, d.members()...)
		}
	}
	if !isName && !s.declared() && slices.ContainsFunc(next.docs, func(d doc) bool { return d.node == nil }) {
		return spot{path: next.path}, false // what an entry of such data has is for the application to say
	}
	return next, isName && named && len(next.docs) == 0 && !s.mayHave(string(name))
}

// declared says that the places are in data that the library knows.
func (s spot) declared() bool { return len(s.path) > 1 && s.path[1].Equal(ast.StringTerm("ambit")) }

// held says that a name which none of the places has is a typo in every application:
// it belongs to a package, or to data that the library knows.
func (s spot) held() bool {
	return s.declared() || len(s.path) > 1 && slices.ContainsFunc(s.docs, func(d doc) bool { return d.node != nil })
}

// any follows one part of a reference that may be one of several.
func (s spot) any(alternatives []*ast.Term) spot {
	var next spot
	if len(alternatives) > 1 && !s.held() {
		return next
	}
	for _, t := range alternatives {
		one, _ := s.step(t)
		if len(one.docs) == 0 {
			return spot{}
		}
		next.path, next.docs = one.path, append(next.docs, one.docs...)
	}
	return next
}

// missing reports a name that nothing at the places has.
func (s spot) missing(t *ast.Term, at *ast.Location, errs *policydir.Errors) {
	name := string(t.Value.(ast.String))
	errs.Add(at, fmt.Sprintf("there is no %s", s.path.Append(t)), policydir.DidYouMean(name, s.names()))
}

// mayHave says that a member which none of several places has is one of the
// contract all the same: that no tool uses it yet is no typo.
func (s spot) mayHave(name string) bool {
	if !s.declared() {
		return false
	}
	switch s.path[:len(s.path)-1].String() {
	case "data.ambit.declared.tools":
		return !policydir.IsConstant(s.path[4]) && (name == "behaviors" || name == "consent")
	case "data.ambit.tools", "data.ambit.policies":
		return !policydir.IsConstant(s.path[3]) && slices.Contains(policydir.ContractRules(), name)
	}
	return false
}

// names returns the names of what there is at the places.
func (s spot) names() []string {
	var names []string
	for _, d := range s.docs {
		object, _ := d.value.(map[string]any)
		names = slices.AppendSeq(names, maps.Keys(object))
		if d.node == nil {
			continue
		}
		for k := range d.node.Children {
			if s, ok := k.(ast.String); ok {
				names = append(names, string(s))
			}
		}
	}
	return names
}

// named says that what there is at a place goes by names.
func (d doc) named() bool {
	_, isObject := d.value.(map[string]any)
	return isObject || d.node != nil
}

// member returns what goes by a name at a place.
func (d doc) member(name ast.String) (doc, bool) {
	var m doc
	if d.node != nil {
		m.node = d.node.Child(name)
	}
	object, _ := d.value.(map[string]any)
	value, inData := object[string(name)]
	m.value = value
	return m, inData || m.node != nil
}

// members returns everything that there is at a place.
func (d doc) members() []doc {
	var all []doc
	if list, isList := d.value.([]any); isList {
		for _, value := range list {
			all = append(all, doc{value: value})
		}
	}
	for _, name := range (spot{docs: []doc{d}}).names() {
		m, _ := d.member(ast.String(name))
		all = append(all, m)
	}
	return all
}

// A pathLint finds references into data that does not exist: they would be undefined,
// and a denial would not apply, or a test would check nothing.
type pathLint struct {
	root   spot
	tests  bool      // of tests, which may ask for data that is not there
	mocked []ast.Ref // what tests replace: what is below is their own
	errs   *policydir.Errors
}

// module checks the references of a compiled module.
func (l *pathLint) module(m *ast.Module) {
	ast.WalkRefs(m, func(ref ast.Ref) bool {
		if ref[0].Equal(ast.DefaultRootDocument) && !slices.ContainsFunc(l.mocked, func(m ast.Ref) bool { return covers(m, ref) }) {
			if at, wrong := l.root.lost(ref); wrong > 0 && (at.held() || !l.tests) {
				at.missing(ref[wrong], nearest(ref[wrong], ref), l.errs)
			}
		}
		return false
	})
}

// covers says that a reference may lead to a place that is replaced, or below it.
func covers(replaced, ref ast.Ref) bool {
	if len(ref) < len(replaced) {
		return false
	}
	for i, t := range replaced {
		if !t.Equal(ref[i]) && policydir.IsConstant(t) && policydir.IsConstant(ref[i]) {
			return false
		}
	}
	return true
}

// lost returns the index of the part of a reference at which it leads nowhere,
// or 0, and the spot before it.
func (s spot) lost(ref ast.Ref) (before spot, wrong int) {
	for i, t := range ref[1:] {
		next, closed := s.step(t)
		if closed {
			return s, i + 1
		}
		s = next
	}
	return s, 0
}

// nearest returns the position of a part of a reference, or of the reference.
func nearest(t *ast.Term, ref ast.Ref) *ast.Location {
	for _, candidate := range []*ast.Term{t, ref[0]} {
		if candidate.Location != nil && strings.TrimSpace(candidate.Location.File) != "" {
			return candidate.Location
		}
	}
	return nil
}
