package lint

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// analyze visits every contract rule, and what it uses.
func (l *valueLint) analyze() {
	for _, m := range l.HandWritten(l.Compiler.Modules) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if policydir.Contract(policydir.RuleName(r)) != nil && r.Head.Key != nil {
				tools := l.Rooted(m.Package.Path)
				l.root, l.inverted = policydir.RuleName(r), false
				l.visit(r, nil, tools, 0)
				l.entry(r, values.NewFrame(r, nil, tools, 0))
			}
		}
	}
	l.conflicts()
	l.failures()
	l.optionals()
}

// visit checks a rule in a context, once.
func (l *valueLint) visit(r *ast.Rule, args []values.Set, tools values.ToolSet, depth int) {
	if r.Module == nil || depth > values.MaxNested || l.fuel == 0 {
		return
	}
	key := values.ContextKey(r, args, tools)
	if l.refuses() {
		key += "!"
	}
	if l.visited[key] {
		return
	}
	l.visited[key] = true
	l.fuel--
	outer := l.bodies
	defer func() { l.bodies = outer }()
	for ; r != nil; r = r.Else {
		f := values.NewFrame(r, args, tools, depth)
		if !l.heads(f) {
			continue
		}
		l.bodies = nil
		filter := !policydir.Contributes(r.Module.Package.Path) || policydir.Contract(policydir.RuleName(r)) == nil
		if inner := l.body(r.Body, f, filter, values.HeadTerms(r)...); inner != nil {
			for _, t := range values.HeadTerms(r) {
				l.term(t, inner)
			}
		}
	}
}

// heads checks the constants among the arguments of a function. It says whether
// the function is defined for what is passed.
func (l *valueLint) heads(f *values.Frame) bool {
	defined := true
	for i, arg := range f.Rule.Head.Args {
		if i >= len(f.Args) || !ast.IsConstant(arg.Value) {
			continue
		}
		c := values.ConstantAt(arg, f.Rule.Location)
		l.compared(f.Args[i], []values.Constant{c}, comparing{f: f})
		f.Tools = f.Tools.And(l.Equated(f.Args[i], values.Only(c)))
		if all, ok := f.Args[i].AllConstants(); ok && !values.Contains(all, arg.Value) {
			defined = false
		}
	}
	return defined && !f.Tools.None()
}

// body checks a body, of whose variables the heads are made, and returns the frame that holds where it is true, nil
// when it never is. filter says that the body selects what the heads are.
func (l *valueLint) body(body ast.Body, f *values.Frame, filter bool, heads ...*ast.Term) *values.Frame {
	l.bodies = append(l.bodies, bodyScope{body, heads, filter})
	defer func() { l.bodies = l.bodies[:len(l.bodies)-1] }()
	tools := l.Narrowed(body, f)
	if tools.None() {
		l.neverHere(body, f)
		return nil
	}
	f = f.With(tools)
	for _, e := range body {
		if len(e.With) == 0 && !e.Negated && l.Contradicts(e, f) {
			l.expr(e, f) // where what a rule answers is compared, that is a mistake
			return nil
		}
	}
	for _, e := range body {
		l.condition(e, f)
		l.expr(e, f)
	}
	return f
}

// expr checks one expression. What a with replaces is not what the call is about.
func (l *valueLint) expr(e *ast.Expr, f *values.Frame) {
	if len(e.With) > 0 {
		return
	}
	if e.Negated {
		l.inverted = !l.inverted
		defer func() { l.inverted = !l.inverted }()
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		l.term(terms, f)
	case []*ast.Term:
		l.call(terms, e, f)
		for _, t := range terms[1:] {
			l.term(t, f)
		}
	case *ast.Every:
		l.hasElements(l.Values(terms.Domain, f), terms.Domain, "every", e, f)
		l.term(terms.Domain, f)
		l.body(terms.Body, f, false)
	}
}

// call checks a call of a function, operators included.
func (l *valueLint) call(terms []*ast.Term, e *ast.Expr, f *values.Frame) {
	name := terms[0].String()
	if functions.Builtin(name) == nil {
		if ref, ok := terms[0].Value.(ast.Ref); ok {
			rules := l.Compiler.GetRulesExact(ref)
			if len(rules) == 0 {
				return
			}
			args := l.passed(terms[1:], rules, e, f)
			for _, r := range rules {
				l.visit(r, args, l.Entering(r, f), f.Depth+1)
			}
		}
		return
	}
	switch name {
	case "eq", "equal", "neq", "gt", "gte", "lt", "lte":
		l.comparison(terms[1], terms[2], e, f)
		if name == "neq" || name == "equal" || name == "eq" {
			l.differs(terms[1], terms[2], (name == "neq") != e.Negated, e, f)
		}
	case "internal.member_2":
		l.membership(terms[1], terms[2], e, f)
	case "internal.member_3":
		l.membership(terms[2], terms[3], e, f)
	case "object.get":
		l.lookup(l.Values(terms[1], f), terms[2], f)
		l.got(terms[1], terms[2], f)
	}
	if name == "sprintf" {
		l.formatted(terms, e, f)
	}
	l.patterns(name, terms, e, f)
	l.constantArgs(name, terms, e, f)
}

// term checks the references and the closures of a term.
func (l *valueLint) term(t *ast.Term, f *values.Frame) {
	switch v := t.Value.(type) {
	case ast.Ref:
		l.reference(v, f)
	case *ast.ArrayComprehension:
		l.closure(v.Body, f, v.Term)
	case *ast.SetComprehension:
		l.closure(v.Body, f, v.Term)
	case *ast.ObjectComprehension:
		l.closure(v.Body, f, v.Key, v.Value)
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) { l.term(key, f); l.term(value, f) })
	case policydir.Collection:
		v.Foreach(func(t *ast.Term) { l.term(t, f) })
	case ast.Call:
		for _, t := range v[1:] {
			l.term(t, f)
		}
	}
}

// closure checks a comprehension.
func (l *valueLint) closure(body ast.Body, f *values.Frame, heads ...*ast.Term) {
	if inner := l.body(body, f, true, heads...); inner != nil {
		for _, t := range heads {
			l.term(t, inner)
		}
	}
}

// reference checks where a reference leads, and visits the rules that it names.
func (l *valueLint) reference(ref ast.Ref, f *values.Frame) {
	base := l.RefValues(ref[:1], f)
	if !isVar(ref[0]) {
		l.term(ref[0], f)
	}
	for i, index := range ref[1:] {
		l.indexes(base, ref[:i+1], f)
		l.members(base, index, f)
		l.lookup(base, index, f)
		l.term(index, f)
		base = l.Step(base, index, f)
	}
	for _, r := range l.RulesOf(ref) {
		l.visit(r, nil, l.Entering(r, f), f.Depth+1)
	}
}

// neverHere reports a body in the package of a tool that is about another one.
func (l *valueLint) neverHere(body ast.Body, f *values.Frame) {
	kind, name := policydir.ContractPackage(f.Rule.Module.Package.Path)
	if kind != policydir.ToolPackage {
		return
	}
	for _, e := range body {
		if e.Negated || len(e.With) > 0 || !f.Tools.And(l.Required(e, f)).None() {
			continue
		}
		if l.expr(e, f); !l.Required(e, f).Abroad() { // else the name is what is wrong
			l.notes.at("tool", e.Location).wrong(e.Location, fmt.Sprintf("package ambit.tools.%s is about calls of %s alone, and this never holds for them", name, name),
				"write it into the package of the tool that is meant, or into ambit.policies.<name>")
		}
		return
	}
}
