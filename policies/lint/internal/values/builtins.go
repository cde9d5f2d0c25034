package values

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

// IsFolded says that the results of a built-in function are followed.
func IsFolded(name string) bool { return slices.Contains(strings.Fields(folded), name) }

// builtin returns what a built-in function can return.
func (a *Analysis) builtin(name string, args []*ast.Term, f *Frame) Set {
	switch {
	case name == "object.get" && len(args) == 3:
		return a.objectGet(args, f)
	case name == "object.keys" && len(args) == 1:
		return a.Values(args[0], f).Each(func(c Candidate) Set {
			if p, ok := c.(InputPart); ok {
				return Only(memberNames{p})
			}
			keys, ok := c.keys(a).AllConstants()
			if !ok {
				return Anything()
			}
			return Only(Constant{Term: setOf(keys), near: a.Where(keys[0])})
		})
	case !IsFolded(name):
		return a.made(name, args, f)
	}
	calls, ok := a.Alternatives(args, f)
	if !ok {
		return a.made(name, args, f)
	}
	var all Set
	for _, terms := range calls {
		t, err := a.Call(name, terms)
		if t == nil || err != nil {
			return a.made(name, args, f)
		}
		all = all.and(Only(Constant{Term: ast.NewTerm(t.Value), near: args[0].Location}))
	}
	return all
}

// setOf returns the set of some constants. Its elements keep their locations.
func setOf(all []Constant) *ast.Term {
	terms := make([]*ast.Term, len(all))
	for i, c := range all {
		terms[i] = c.Term
	}
	return ast.SetTerm(terms...)
}

// Call returns what a built-in function returns for some constants: nil when it is
// undefined for them, or the time for such calls is over.
func (a *Analysis) Call(name string, args []*ast.Term) (*ast.Term, error) {
	call := append([]*ast.Term{ast.NewTerm(functions.Builtin(name).Ref())}, args...)
	return a.evaluated.eval(&ast.Expr{Terms: append(call, ast.VarTerm("result"))})
}

// Alternatives returns all combinations of constants that arguments can be; ok is
// false when one of them can be anything else.
func (a *Analysis) Alternatives(args []*ast.Term, f *Frame) (calls [][]*ast.Term, ok bool) {
	return combine(args, func(t *ast.Term) (terms []*ast.Term, ok bool) {
		all, ok := a.Values(t, f).AllConstants()
		for _, c := range all {
			terms = append(terms, c.Term)
		}
		return terms, ok
	})
}

// Combined returns all combinations of what arguments can be, when each has few values.
func (a *Analysis) Combined(args []*ast.Term, f *Frame) (calls [][]*ast.Term, ok bool) {
	return combine(args, func(t *ast.Term) ([]*ast.Term, bool) { return a.Few(a.Values(t, f)) })
}

// combine returns all combinations of the values of arguments, unless they are too many.
func combine(args []*ast.Term, of func(*ast.Term) ([]*ast.Term, bool)) (calls [][]*ast.Term, ok bool) {
	calls = [][]*ast.Term{nil}
	for _, t := range args {
		all, ok := of(t)
		if !ok || len(all)*len(calls) > MaxAlternatives {
			return nil, false
		}
		var next [][]*ast.Term
		for _, call := range calls {
			for _, one := range all {
				next = append(next, append(slices.Clone(call), one))
			}
		}
		calls = next
	}
	return calls, true
}

// objectGet returns what object.get can return.
func (a *Analysis) objectGet(args []*ast.Term, f *Frame) Set {
	path := []*ast.Term{args[1]}
	if list, ok := args[1].Value.(*ast.Array); ok {
		path = nil
		list.Foreach(func(t *ast.Term) { path = append(path, t) })
	}
	s := a.Values(args[0], f)
	for _, index := range path {
		s = a.Step(s, index, f)
	}
	return s.and(a.Values(args[2], f))
}
