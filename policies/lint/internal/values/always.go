package values

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// maxSteps bounds how far a value is followed to find out whether it is always there.
const maxSteps = 200

// sometimes are the built-in functions that have no answer for some operands, without an error.
var sometimes = []string{"max", "min", "uuid.parse", "walk"}

// Always says that a term has a value in every call that gets there. It is false where that is not known.
func (a *Analysis) Always(t *ast.Term, f *Frame) bool {
	if a.steps++; a.steps > maxSteps {
		return false
	}
	defer func() { a.steps-- }()
	switch v := t.Value.(type) {
	case ast.Var:
		return a.alwaysVar(v, f)
	case ast.Ref:
		return a.alwaysRef(v, f)
	case ast.Call:
		return a.alwaysCall(v, f)
	case ast.Object:
		all := true
		v.Foreach(func(key, value *ast.Term) { all = all && a.Always(key, f) && a.Always(value, f) })
		return all
	case policydir.Collection:
		all := true
		v.Foreach(func(t *ast.Term) { all = all && a.Always(t, f) })
		return all
	}
	return true // a scalar or a comprehension
}

// alwaysVar says that what gives a variable its value always has one.
func (a *Analysis) alwaysVar(v ast.Var, f *Frame) bool {
	if a.asked[v] {
		return true // it is equal to another variable, which decides
	}
	a.asked[v] = true
	defer delete(a.asked, v)
	s := a.scopeOf(f.Rule)
	if len(s.params[v]) > 0 {
		return f.Args == nil || a.certain(a.Values(ast.NewTerm(v), f)) // without arguments: the caller has them
	}
	return len(s.locals[v]) > 0 && !slices.ContainsFunc(s.locals[v], func(d definition) bool { return d.index || d.sure == nil || !d.sure(f) })
}

// certain says that whatever a function was called with is always there. A constant may have been looked up.
func (a *Analysis) certain(s Set) bool {
	return !s.open && (s.of == nil || s.made) && len(s.list) > 0 && !slices.ContainsFunc(s.list, func(c Candidate) bool {
		switch c := c.(type) {
		case InputPart:
			return !a.there(c)
		case partial:
			return !c.whole
		case Literal, memberNames:
			return false
		}
		return true
	})
}

// there says that every call has a part of the input.
func (a *Analysis) there(p InputPart) bool {
	if len(p.Path) == 3 && (InputPart{Path: p.Path[:2]}).IsFacts() {
		name, ok := p.Path[2].Value.(ast.String)
		if ok && a.IsTool(string(name)) {
			return true
		}
		of, isPart := a.Values(p.Path[2], p.Frame).AllParts()
		return isPart && of[0].IsToolName()
	}
	return a.AlwaysThere(p)
}

// alwaysRef says that a reference always leads somewhere.
func (a *Analysis) alwaysRef(ref ast.Ref, f *Frame) bool {
	if !ref[0].Equal(ast.DefaultRootDocument) {
		s := a.RefValues(ref, f)
		parts, ok := s.AllParts()
		return ok && s.of == nil && !slices.ContainsFunc(parts, func(p InputPart) bool { return !a.there(p) })
	}
	for i := 2; i <= len(ref); i++ {
		if rules := a.Compiler.GetRulesExact(ref[:i]); len(rules) > 0 {
			return i == len(ref) && a.anyAlways(rules, f)
		}
	}
	if partials := a.RulesOf(ref); len(partials) > 0 {
		return !slices.ContainsFunc(partials, func(r *ast.Rule) bool { return !r.Ref().HasPrefix(ref) })
	}
	if len(ref) > 1 && ref[1].Equal(ast.StringTerm("ambit")) {
		return false // a policy may ask whether something is declared
	}
	value := any(a.Data)
	for _, t := range ref[1:] {
		object, _ := value.(map[string]any)
		name, isName := t.Value.(ast.String)
		var ok bool
		if value, ok = object[string(name)]; !ok || !isName {
			return false
		}
	}
	return true
}

// alwaysCall says that a function always has an answer for what it is called with.
func (a *Analysis) alwaysCall(call []*ast.Term, f *Frame) bool {
	if slices.ContainsFunc(call[1:], func(t *ast.Term) bool { return !a.Always(t, f) }) {
		return false
	}
	name := call[0].String()
	if functions.Builtin(name) != nil {
		return !slices.Contains(sometimes, name)
	}
	ref, ok := call[0].Value.(ast.Ref)
	if !ok || f.Depth >= MaxNested {
		return false
	}
	return a.anyAlways(a.Compiler.GetRulesExact(ref), f)
}

// anyAlways says that one of the rules of a name always has a value: it has no condition, or two of them have
// conditions of which one holds always.
func (a *Analysis) anyAlways(rules []*ast.Rule, from *Frame) bool {
	for _, r := range rules {
		if r.Default || r.Head.RuleKind() == ast.MultiValue || r.Head.Key != nil {
			return true
		}
		for branch := r; branch != nil; branch = branch.Else {
			f := NewFrame(branch, nil, a.Entering(r, from), from.Depth+1)
			if f.Depth <= MaxNested && a.unconditional(branch, f) {
				return true
			}
		}
	}
	for i, r := range rules {
		for _, other := range rules[i+1:] {
			if f := NewFrame(r, nil, a.Entering(r, from), from.Depth+1); a.complements(r, other, f) {
				return true
			}
		}
	}
	return false
}

// unconditional says that a rule has a value whatever the call is.
func (a *Analysis) unconditional(r *ast.Rule, f *Frame) bool {
	for _, arg := range r.Head.Args {
		if _, isVar := arg.Value.(ast.Var); !isVar {
			return false
		}
	}
	return !slices.ContainsFunc(r.Body, func(e *ast.Expr) bool { return !a.assigns(e, f) }) && (r.Head.Value == nil || a.alwaysIn(r.Head.Value, f))
}

// alwaysIn is Always for a function whose arguments are there.
func (a *Analysis) alwaysIn(t *ast.Term, f *Frame) bool {
	if v, ok := t.Value.(ast.Var); ok && len(a.scopeOf(f.Rule).params[v]) > 0 {
		return true
	}
	return a.Always(t, f)
}

// assigns says that an expression requires nothing: it is true, or gives a variable a value that is always there.
func (a *Analysis) assigns(e *ast.Expr, f *Frame) bool {
	if e.Negated || len(e.With) > 0 {
		return false
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		return terms.Equal(ast.BooleanTerm(true))
	case []*ast.Term:
		if terms[0].String() == "eq" && len(terms) == 3 {
			return a.Defines(terms[1], e, f) && a.alwaysIn(terms[2], f) || a.Defines(terms[2], e, f) && a.alwaysIn(terms[1], f)
		}
		n := a.Arity(terms[0])
		if n < 0 || len(terms) != n+2 || !a.Defines(terms[n+1], e, f) || slices.ContainsFunc(terms[1:n+1], func(t *ast.Term) bool { return !a.alwaysIn(t, f) }) {
			return false
		}
		return functions.Builtin(terms[0].String()) != nil && !slices.Contains(sometimes, terms[0].String())
	}
	return false
}

// opposite are the comparisons that hold where others do not.
var opposite = map[string]string{"gt": "lte", "lte": "gt", "lt": "gte", "gte": "lt", "equal": "neq", "neq": "equal", "eq": "neq"}

// complements says that one of two rules holds always: each has one condition, and these are opposites of one
// another about what is always there.
func (a *Analysis) complements(r, other *ast.Rule, f *Frame) bool {
	x, y := a.onlyCondition(r, f), a.onlyCondition(other, NewFrame(other, nil, f.Tools, f.Depth))
	if x == nil || y == nil || r.Else != nil || other.Else != nil || len(r.Head.Args) != len(other.Head.Args) {
		return false
	}
	for _, arg := range append(slices.Clone(r.Head.Args), other.Head.Args...) {
		if _, isVar := arg.Value.(ast.Var); !isVar {
			return false
		}
	}
	xs, _ := x.Terms.([]*ast.Term)
	ys, _ := y.Terms.([]*ast.Term)
	if len(xs) != 3 || len(ys) != 3 {
		tx, okX := x.Terms.(*ast.Term)
		ty, okY := y.Terms.(*ast.Term)
		return okX && okY && Written(tx, r) == Written(ty, other) && x.Negated != y.Negated
	}
	same := func(s, t *ast.Term) bool { return Written(s, r) == Written(t, other) }
	if !a.alwaysIn(xs[1], f) || !a.alwaysIn(xs[2], f) || !same(xs[1], ys[1]) || !same(xs[2], ys[2]) {
		return false
	}
	if x.Negated != y.Negated {
		return xs[0].Equal(ys[0])
	}
	return !x.Negated && opposite[xs[0].String()] == ys[0].String()
}

// onlyCondition returns the one expression of a body that requires something, nil when there are more.
func (a *Analysis) onlyCondition(r *ast.Rule, f *Frame) (only *ast.Expr) {
	for _, e := range r.Body {
		if a.assigns(e, f) {
			continue
		}
		if only != nil || len(e.With) > 0 {
			return nil
		}
		only = e
	}
	return only
}

// Written writes a term without the names of the variables of its rule.
func Written(t *ast.Term, r *ast.Rule) string {
	text := t.String()
	for _, e := range r.Body {
		terms, ok := e.Terms.([]*ast.Term)
		if !ok || terms[0].String() != "eq" || e.Negated {
			continue
		}
		for i, side := range terms[1:] {
			if v, isVar := side.Value.(ast.Var); isVar {
				text = strings.ReplaceAll(text, v.String(), terms[2-i].String())
				break
			}
		}
	}
	for i, arg := range r.Head.Args {
		text = strings.ReplaceAll(text, arg.String(), fmt.Sprintf("$%d", i))
	}
	return text
}
