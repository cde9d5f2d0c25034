package lint

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
)

// folded names the built-in functions whose results are followed when all that
// they are called with is constant: people write names and lists with them.
const folded = `
	and array.concat array.flatten array.reverse array.slice concat count format_int intersection lower max min minus
	object.filter object.remove object.union object.union_n or replace sort split sprintf sum trim trim_left trim_prefix trim_right
	trim_space trim_suffix union upper`

// isFolded says that the results of a built-in function are followed.
func isFolded(name string) bool { return slices.Contains(strings.Fields(folded), name) }

// builtin returns what a built-in function can return.
func (a *analysis) builtin(name string, args []*ast.Term, f *frame) valueSet {
	switch {
	case name == "object.get" && len(args) == 3:
		return a.objectGet(args, f)
	case name == "object.keys" && len(args) == 1:
		return a.values(args[0], f).each(func(c candidate) valueSet {
			if p, ok := c.(inputPart); ok {
				return only(memberNames{p})
			}
			keys, ok := c.keys(a).allConstants()
			if !ok {
				return anything()
			}
			return only(constant{Term: setOf(keys), near: a.where(keys[0])})
		})
	case !isFolded(name):
		return anything()
	}
	calls, ok := a.alternatives(args, f)
	if !ok {
		return anything()
	}
	var all valueSet
	for _, terms := range calls {
		t, err := a.call(name, terms)
		if t == nil || err != nil {
			return anything()
		}
		all = all.and(only(constant{Term: ast.NewTerm(t.Value), near: args[0].Location}))
	}
	return all
}

// setOf returns the set of some constants. Its elements keep their locations.
func setOf(all []constant) *ast.Term {
	terms := make([]*ast.Term, len(all))
	for i, c := range all {
		terms[i] = c.Term
	}
	return ast.SetTerm(terms...)
}

// call returns what a built-in function returns for some constants: nil when it is
// undefined for them, or the time for such calls is over.
func (a *analysis) call(name string, args []*ast.Term) (*ast.Term, error) {
	call := append([]*ast.Term{ast.NewTerm(functions.Builtin(name).Ref())}, args...)
	return a.closed.eval(&ast.Expr{Terms: append(call, ast.VarTerm("result"))})
}

// alternatives returns all combinations of constants that arguments can be; ok is
// false when one of them can be anything else.
func (a *analysis) alternatives(args []*ast.Term, f *frame) (calls [][]*ast.Term, ok bool) {
	calls = [][]*ast.Term{nil}
	for _, t := range args {
		all, ok := a.values(t, f).allConstants()
		if !ok || len(all)*len(calls) > maxAlternatives {
			return nil, false
		}
		var next [][]*ast.Term
		for _, call := range calls {
			for _, c := range all {
				next = append(next, append(slices.Clone(call), c.Term))
			}
		}
		calls = next
	}
	return calls, true
}

// objectGet returns what object.get can return.
func (a *analysis) objectGet(args []*ast.Term, f *frame) valueSet {
	path := []*ast.Term{args[1]}
	if list, ok := args[1].Value.(*ast.Array); ok {
		path = nil
		list.Foreach(func(t *ast.Term) { path = append(path, t) })
	}
	s := a.values(args[0], f)
	for _, index := range path {
		s = a.step(s, index, f)
	}
	return s.and(a.values(args[2], f))
}
