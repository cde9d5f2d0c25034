package values

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
)

// A scope says what gives the variables of a rule their values.
type scope struct {
	params map[ast.Var][]definition
	locals map[ast.Var][]definition
	first  map[ast.Var]*ast.Expr // of the rule's body, in the order of its evaluation, that has the variable
}

// A definition is one place where a variable gets or may get its value.
type definition struct {
	by    *ast.Expr // nil: a parameter
	index bool      // the variable is an index, and goes through what there is
	value func(f *Frame) Set
	sure  func(f *Frame) bool // the value is always there; nil: it is not known
}

// scopeOf returns the scope of a rule, without those of its else branches.
func (a *Analysis) scopeOf(r *ast.Rule) *scope {
	if s := a.scopes[r]; s != nil {
		return s
	}
	s := &scope{params: map[ast.Var][]definition{}, locals: map[ast.Var][]definition{}, first: map[ast.Var]*ast.Expr{}}
	a.scopes[r] = s
	outer := map[ast.Var]bool{}
	for i, arg := range r.Head.Args {
		a.bind(s.params, arg, definition{value: func(f *Frame) Set {
			if i < len(f.Args) {
				return f.Args[i]
			}
			return Anything()
		}})
		ast.WalkVars(arg, func(v ast.Var) bool { outer[v] = true; return false })
	}
	a.scopeBody(s, r.Body, outer)
	for _, e := range r.Body {
		for v := range varsOf(ast.NewBody(e), nil) {
			if s.first[v] == nil {
				s.first[v] = e
			}
		}
	}
	for _, t := range HeadTerms(r) {
		a.scopeClosures(s, t, varsOf(r.Body, outer))
	}
	return s
}

// HeadTerms returns the terms of a rule's head that are evaluated with its body.
func HeadTerms(r *ast.Rule) []*ast.Term {
	var terms []*ast.Term
	for _, t := range append(slices.Clone(r.Head.Ref()[1:]), r.Head.Key, r.Head.Value) {
		if t != nil {
			terms = append(terms, t)
		}
	}
	return terms
}

// varsOf returns the variables of a body, those inside closures left out, and outer ones.
func varsOf(body ast.Body, outer map[ast.Var]bool) map[ast.Var]bool {
	all := map[ast.Var]bool{}
	for v := range outer {
		all[v] = true
	}
	vis := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipClosures: true})
	vis.Walk(body)
	for v := range vis.Vars() {
		all[v] = true
	}
	return all
}

// scopeBody notes what a body defines. Variables of the bodies around it are
// compared there, not defined.
func (a *Analysis) scopeBody(s *scope, body ast.Body, outer map[ast.Var]bool) {
	inner := varsOf(body, outer)
	defs := map[ast.Var][]definition{}
	for _, e := range body {
		if !e.Negated && len(e.With) == 0 {
			a.scopeExpr(defs, e)
		}
		if !e.Negated && len(e.With) > 0 {
			a.scopeReplaced(defs, e)
		}
		switch terms := e.Terms.(type) {
		case *ast.Every:
			a.scopeEvery(s, terms, inner)
		case *ast.Term:
			a.scopeClosures(s, terms, inner)
		case []*ast.Term:
			for _, t := range terms[1:] {
				a.scopeClosures(s, t, inner)
			}
		}
	}
	for v, list := range defs {
		if !outer[v] {
			s.locals[v] = append(s.locals[v], list...)
		}
	}
}

// scopeEvery notes what an every defines, and its body.
func (a *Analysis) scopeEvery(s *scope, every *ast.Every, outer map[ast.Var]bool) {
	inner := map[ast.Var]bool{}
	for v := range outer {
		inner[v] = true
	}
	domain := func(f *Frame) Set { return a.Values(every.Domain, f) }
	for _, t := range []*ast.Term{every.Key, every.Value} {
		if t == nil {
			continue
		}
		v, ok := t.Value.(ast.Var)
		if !ok {
			continue
		}
		inner[v] = true
		s.locals[v] = append(s.locals[v], definition{index: t == every.Key, sure: func(*Frame) bool { return true }, value: func(f *Frame) Set {
			return domain(f).Each(func(c Candidate) Set {
				if t == every.Key {
					return c.keys(a)
				}
				return c.elements(a)
			})
		}})
	}
	a.scopeClosures(s, every.Domain, outer)
	a.scopeBody(s, every.Body, inner)
}

// scopeClosures notes what the comprehensions inside of a term define.
func (a *Analysis) scopeClosures(s *scope, t *ast.Term, outer map[ast.Var]bool) {
	ast.WalkClosures(t, func(closure any) bool {
		switch c := closure.(type) {
		case *ast.ArrayComprehension:
			a.scopeBody(s, c.Body, outer)
		case *ast.SetComprehension:
			a.scopeBody(s, c.Body, outer)
		case *ast.ObjectComprehension:
			a.scopeBody(s, c.Body, outer)
		}
		return true
	})
}

// scopeExpr notes what an expression defines.
func (a *Analysis) scopeExpr(defs map[ast.Var][]definition, e *ast.Expr) {
	terms, isCall := e.Terms.([]*ast.Term)
	if t, isTerm := e.Terms.(*ast.Term); isTerm {
		a.scopeIndexes(defs, t, e)
		return
	}
	if !isCall {
		return
	}
	for _, t := range terms[1:] {
		a.scopeIndexes(defs, t, e)
	}
	if terms[0].String() == "eq" && len(terms) == 3 {
		for i, t := range terms[1:] {
			other := terms[2-i]
			a.bind(defs, t, definition{by: e, value: func(f *Frame) Set { return a.Values(other, f) }, sure: func(f *Frame) bool {
				if s := a.Values(other, f); s.of != nil && !s.made {
					return true // it is some element, which is there
				}
				return a.Always(other, f)
			}})
		}
		return
	}
	if n := a.Arity(terms[0]); n >= 0 && len(terms) == n+2 {
		a.bind(defs, terms[n+1], definition{by: e, value: func(f *Frame) Set { return a.result(terms[:n+1], f) }, sure: func(f *Frame) bool { return a.alwaysCall(terms[:n+1], f) }})
	}
}

// scopeReplaced notes what an expression with a with defines: a set or a list stays one whatever is replaced.
func (a *Analysis) scopeReplaced(defs map[ast.Var][]definition, e *ast.Expr) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || terms[0].String() != "eq" || len(terms) != 3 {
		return
	}
	for i, t := range terms[1:] {
		other := terms[2-i]
		if v, isVar := t.Value.(ast.Var); isVar {
			defs[v] = append(defs[v], definition{by: e, value: func(f *Frame) Set {
				s := a.Values(other, f)
				if s.open || len(s.list) == 0 || slices.ContainsFunc(s.list, func(c Candidate) bool { p, isSet := c.(partial); return !isSet || !p.whole }) {
					return Anything()
				}
				return s
			}, sure: func(f *Frame) bool { return a.Always(other, f) }})
		}
	}
}

// Arity returns how many arguments a function takes, -1 when it is not known.
func (a *Analysis) Arity(function *ast.Term) int {
	if b := functions.Builtin(function.String()); b != nil {
		return b.Decl.Arity()
	}
	ref, ok := function.Value.(ast.Ref)
	if !ok {
		return -1
	}
	for _, r := range a.Compiler.GetRulesExact(ref) {
		return len(r.Head.Args)
	}
	return -1
}

// bind notes that the variables of a pattern are parts of a value.
func (a *Analysis) bind(defs map[ast.Var][]definition, pattern *ast.Term, d definition) {
	part := func(index *ast.Term) definition {
		return definition{by: d.by, index: d.index, value: func(f *Frame) Set {
			return d.value(f).Each(func(c Candidate) Set { return c.member(a, index) })
		}}
	}
	switch v := pattern.Value.(type) {
	case ast.Var:
		defs[v] = append(defs[v], d)
	case *ast.Array:
		for i := range v.Len() {
			a.bind(defs, v.Elem(i), part(ast.InternedTerm(i)))
		}
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) {
			if ast.IsScalar(key.Value) {
				a.bind(defs, value, part(key))
			}
		})
	}
}

// scopeIndexes notes the variables that are indexes inside of a term.
func (a *Analysis) scopeIndexes(defs map[ast.Var][]definition, t *ast.Term, e *ast.Expr) {
	ast.WalkTerms(t, func(t *ast.Term) bool {
		if ast.IsComprehension(t.Value) {
			return true
		}
		ref, ok := t.Value.(ast.Ref)
		if !ok {
			return false
		}
		for i := 1; i < len(ref); i++ {
			if v, isVar := ref[i].Value.(ast.Var); isVar {
				defs[v] = append(defs[v], definition{by: e, index: true, value: func(f *Frame) Set {
					from := a.RefValues(ref[:i], f)
					keys := a.Keys(from)
					keys.of = &from
					return keys
				}})
			}
		}
		return false
	})
}

// Defines says that an expression is all that gives a variable its value.
func (a *Analysis) Defines(t *ast.Term, e *ast.Expr, f *Frame) bool {
	return a.DefinesBut(t, e, nil, f)
}

// DefinesBut is Defines where another expression is left out.
func (a *Analysis) DefinesBut(t *ast.Term, e, but *ast.Expr, f *Frame) bool {
	v, ok := t.Value.(ast.Var)
	if !ok || e.Negated {
		return false
	}
	s := a.scopeOf(f.Rule)
	other := func(d definition) bool { return d.by != e && (but == nil || d.by != but) && !s.renames(d.by, v) }
	return len(s.params[v]) == 0 && slices.ContainsFunc(s.locals[v], func(d definition) bool { return d.by == e }) &&
		!slices.ContainsFunc(s.locals[v], other)
}

// renames says that an expression gives the value of a variable to another one, which has no other value.
func (s *scope) renames(e *ast.Expr, v ast.Var) bool {
	if e == nil {
		return false
	}
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || len(terms) != 3 || terms[0].String() != "eq" {
		return false
	}
	for i, t := range terms[1:] {
		other, isVar := terms[2-i].Value.(ast.Var)
		if isVar && t.Value.Compare(v) == 0 && len(s.params[other]) == 0 && len(s.locals[other]) == 1 {
			return true
		}
	}
	return false
}
