package lint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// bind notes a variable of the rule.
func (l *totalLint) bind(v ast.Var) bool {
	l.bound[v] = true
	return false
}

// assigned returns the variables that an expression gives a value, and theirs.
func (l *totalLint) assigned(e *ast.Expr) map[ast.Var]*ast.Term {
	if e.Negated || len(e.With) > 0 || !e.IsAssignment() && !e.IsEquality() {
		return nil
	}
	vars := map[ast.Var]*ast.Term{}
	to, value := e.Operand(0), e.Operand(1)
	if e.IsEquality() && isVar(value) && !isVar(to) {
		to, value = value, to
	}
	switch v := to.Value.(type) {
	case ast.Var:
		vars[v] = value
	case *ast.Array:
		for i := range v.Len() {
			if name, ok := v.Elem(i).Value.(ast.Var); ok {
				vars[name] = ast.NewTerm(ast.Ref{value, ast.InternedTerm(i)}).SetLocation(value.Location)
			}
		}
	}
	for name := range vars {
		if e.IsEquality() && (l.isArg(name) || l.names(name)) {
			return nil // it is compared
		}
	}
	return vars
}

// isMade says that all that an expression does is to assign what only the entry uses.
func (l *totalLint) isMade(e *ast.Expr) bool {
	vars := l.assigned(e)
	for v := range vars {
		if l.made[v] == nil {
			return false
		}
	}
	return len(vars) > 0
}

// isArg says that a variable is an argument of the function.
func (l *totalLint) isArg(v ast.Var) bool {
	return slices.ContainsFunc(l.rule.Head.Args, func(t *ast.Term) bool { return t.Equal(ast.NewTerm(v)) })
}

// names says that a variable names a rule of the package or an import.
func (l *totalLint) names(v ast.Var) bool {
	if slices.ContainsFunc(l.module.Imports, func(i *ast.Import) bool { return i.Name() == v }) {
		return true
	}
	for range l.rulesAt(l.module.Package.Path.Append(ast.StringTerm(string(v)))) {
		return true
	}
	return false
}

// isVar says that a term is a variable.
func isVar(t *ast.Term) bool {
	_, ok := t.Value.(ast.Var)
	return ok
}

// declares notes the variables that an expression declares.
func (l *totalLint) declares(e *ast.Expr) {
	if e.IsAssignment() || e.IsEquality() {
		ast.WalkVars(e.Operand(0), l.bind)
	}
	some, ok := e.Terms.(*ast.SomeDecl)
	if !ok {
		return
	}
	for _, t := range some.Symbols {
		call, isIn := t.Value.(ast.Call)
		if !isIn {
			ast.WalkVars(t, l.bind)
			continue
		}
		for _, t := range call[1 : len(call)-1] {
			ast.WalkVars(t, l.bind)
		}
		v, isVar := call[len(call)-2].Value.(ast.Var)
		list, isRef := call[len(call)-1].Value.(ast.Ref)
		if isVar && isRef && l.locals[v] == nil {
			l.locals[v] = ast.NewTerm(list.Append(ast.NewTerm(each)))
		}
	}
}

// asked returns the tools that the body is about, if it says so.
func (l *totalLint) asked() []string {
	var tools []string
	for _, e := range l.must {
		terms, ok := e.Terms.([]*ast.Term)
		if !ok || e.Negated || len(terms) != 3 || !l.isToolName(terms[1]) {
			continue
		}
		switch terms[0].String() {
		case "equal", "eq":
			if s, ok := terms[2].Value.(ast.String); ok {
				tools = append(tools, string(s))
			}
		case "internal.member_2":
			if names, ok := constantStrings(terms[2].Value); ok {
				tools = append(tools, names...)
			}
		}
	}
	return slices.DeleteFunc(tools, func(name string) bool { return !l.IsTool(name) })
}

// constantStrings returns the elements of a list or a set, if all are written out as strings.
func constantStrings(v ast.Value) (all []string, ok bool) {
	l, ok := v.(policydir.Collection)
	if !ok {
		return nil, false
	}
	l.Foreach(func(t *ast.Term) {
		s, isString := t.Value.(ast.String)
		all, ok = append(all, string(s)), ok && isString
	})
	return all, ok
}

// isToolName says that a term is input.tool.name.
func (l *totalLint) isToolName(t *ast.Term) bool {
	p, ok := l.path(t)
	names, ground := p.Names()
	return ok && ground && slices.Equal(names, []string{"tool", "name"})
}
