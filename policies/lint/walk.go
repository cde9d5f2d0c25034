package lint

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// analyze visits every contract rule, and what it uses.
func (a *valueLint) analyze() {
	for _, m := range a.HandWritten(a.Compiler.Modules) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if policydir.Contract(policydir.RuleName(r)) != nil && r.Head.Key != nil {
				tools := a.rooted(m.Package.Path)
				a.visit(r, nil, tools, 0)
				a.entry(r, newFrame(r, nil, tools, 0))
			}
		}
	}
	a.conflicts()
	a.failures()
	a.optionals()
}

// visit checks a rule in a context, once.
func (a *valueLint) visit(r *ast.Rule, args []valueSet, tools toolSet, depth int) {
	if r.Module == nil || depth > maxNested || a.fuel == 0 {
		return
	}
	key := visitKey(r, args, tools)
	if a.visited[key] {
		return
	}
	a.visited[key] = true
	a.fuel--
	for ; r != nil; r = r.Else {
		f := newFrame(r, args, tools, depth)
		if !a.heads(f) {
			continue
		}
		if inner := a.body(r.Body, f); inner != nil {
			for _, t := range headTerms(r) {
				a.term(t, inner)
			}
		}
	}
}

// heads checks the constants among the arguments of a function. It says whether
// the function is defined for what is passed.
func (a *valueLint) heads(f *frame) bool {
	defined := true
	for i, arg := range f.rule.Head.Args {
		if i >= len(f.args) || !ast.IsConstant(arg.Value) {
			continue
		}
		c := constant{Term: arg, near: f.rule.Location}
		a.compared(f.args[i], []constant{c}, f)
		f.tools = f.tools.and(a.equated(f.args[i], only(c)))
		if all, ok := f.args[i].allConstants(); ok && !containsValue(all, arg.Value) {
			defined = false
		}
	}
	return defined && !f.tools.none()
}

// body checks a body and returns the frame that holds where it is true, nil when
// it never is.
func (a *valueLint) body(body ast.Body, f *frame) *frame {
	tools := a.narrowed(body, f)
	if tools.none() {
		a.neverHere(body, f)
		return nil
	}
	f = f.with(tools)
	for _, e := range body {
		if len(e.With) == 0 && !e.Negated && a.contradicts(e, f) {
			return nil
		}
	}
	for _, e := range body {
		a.expr(e, f)
	}
	return f
}

// contradicts says that an expression compares constants that are not equal.
func (a *valueLint) contradicts(e *ast.Expr, f *frame) bool {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || len(terms) != 3 || terms[0].String() != "eq" {
		return false
	}
	x, knownX := a.side(terms[1], f, e).allConstants()
	y, knownY := a.side(terms[2], f, e).allConstants()
	if !knownX || !knownY || len(x)*len(y) > maxEntries {
		return false
	}
	for _, c := range x {
		if containsValue(y, c.Value) {
			return false
		}
	}
	return true
}

// expr checks one expression. What a with replaces is not what the call is about.
func (a *valueLint) expr(e *ast.Expr, f *frame) {
	if len(e.With) > 0 {
		return
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		a.term(terms, f)
	case []*ast.Term:
		a.call(terms, e, f)
		for _, t := range terms[1:] {
			a.term(t, f)
		}
	case *ast.Every:
		a.term(terms.Domain, f)
		a.body(terms.Body, f)
	}
}

// call checks a call of a function, operators included.
func (a *valueLint) call(terms []*ast.Term, e *ast.Expr, f *frame) {
	name := terms[0].String()
	if functions.Builtin(name) == nil {
		if ref, ok := terms[0].Value.(ast.Ref); ok {
			args := a.passed(terms[1:], f)
			for _, r := range a.Compiler.GetRulesExact(ref) {
				a.visit(r, args, a.entering(r, f), f.depth+1)
			}
		}
		return
	}
	switch name {
	case "eq", "equal", "neq", "gt", "gte", "lt", "lte":
		a.comparison(terms[1], terms[2], e, f)
	case "internal.member_2":
		a.membership(terms[1], terms[2], e, f)
	case "internal.member_3":
		a.membership(terms[2], terms[3], e, f)
	case "object.get":
		a.lookup(a.values(terms[1], f), terms[2], f)
		a.got(terms[1], terms[2], f)
	}
	a.constantArgs(name, terms, e, f)
}

// term checks the references and the closures of a term.
func (a *valueLint) term(t *ast.Term, f *frame) {
	switch v := t.Value.(type) {
	case ast.Ref:
		a.reference(v, f)
	case *ast.ArrayComprehension:
		a.closure(v.Body, f, v.Term)
	case *ast.SetComprehension:
		a.closure(v.Body, f, v.Term)
	case *ast.ObjectComprehension:
		a.closure(v.Body, f, v.Key, v.Value)
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) { a.term(key, f); a.term(value, f) })
	case policydir.Collection:
		v.Foreach(func(t *ast.Term) { a.term(t, f) })
	case ast.Call:
		for _, t := range v[1:] {
			a.term(t, f)
		}
	}
}

// closure checks a comprehension.
func (a *valueLint) closure(body ast.Body, f *frame, heads ...*ast.Term) {
	if inner := a.body(body, f); inner != nil {
		for _, t := range heads {
			a.term(t, inner)
		}
	}
}

// reference checks where a reference leads, and visits the rules that it names.
func (a *valueLint) reference(ref ast.Ref, f *frame) {
	base := a.refValues(ref[:1], f)
	if !isVar(ref[0]) {
		a.term(ref[0], f)
	}
	for _, index := range ref[1:] {
		a.members(base, index, f)
		a.lookup(base, index, f)
		a.term(index, f)
		base = a.step(base, index, f)
	}
	for _, r := range a.rulesOf(ref) {
		a.visit(r, nil, a.entering(r, f), f.depth+1)
	}
}

// neverHere reports a body in the package of a tool that is about another one.
func (a *valueLint) neverHere(body ast.Body, f *frame) {
	kind, name := policydir.ContractPackage(f.rule.Module.Package.Path)
	if kind != policydir.ToolPackage {
		return
	}
	for _, e := range body {
		if e.Negated || len(e.With) > 0 || !f.tools.and(a.required(e, f)).none() {
			continue
		}
		if a.expr(e, f); !a.required(e, f).abroad() { // else the name is what is wrong
			a.notes.at("tool", e.Location).wrong(e.Location, fmt.Sprintf("package ambit.tools.%s is about calls of %s alone, and this never holds for them", name, name),
				"write it into the package of the tool that is meant, or into ambit.policies.<name>")
		}
		return
	}
}
