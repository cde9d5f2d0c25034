package lint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// rules evaluates all rules of a name. A default says what is when none of them
// holds, and so does an else.
func (l *absence) rules(name string, rules []*ast.Rule) finding {
	if len(rules[0].Head.Args) > 0 || hasDefault(rules) || l.depth >= values.MaxNested {
		return finding{}
	}
	if one := l.only[name]; one != nil {
		rules = []*ast.Rule{one}
	}
	var found []finding
	for _, r := range rules {
		if v := l.rule(r, findings{}); !v.absent {
			found = append(found, v)
		}
	}
	head := rules[0].Head
	switch {
	case len(found) == 0 && head.RuleKind() == ast.MultiValue:
		return finding{value: ast.NewSet()}
	case len(found) == 0 && !head.Ref().IsGround():
		return finding{value: ast.NewObject()}
	case len(found) == 0:
		return finding{absent: true}
	case len(found) > 1 || head.RuleKind() == ast.MultiValue || !head.Ref().IsGround():
		return finding{}
	}
	return found[0]
}

// hasDefault says that one of some rules is a default.
func hasDefault(rules []*ast.Rule) bool {
	return slices.ContainsFunc(rules, func(r *ast.Rule) bool { return r.Default })
}

// rule evaluates a rule, and its else branches when it fails.
func (l *absence) rule(r *ast.Rule, vars findings) finding {
	l.depth++
	defer func() { l.depth-- }()
	f := l.body(r.Body, vars)
	switch {
	case f == fails && r.Else == nil:
		return finding{absent: true}
	case f == fails:
		if l.rule(r.Else, l.arguments(r.Else, r, vars)).absent {
			return finding{absent: true}
		}
		return finding{} // what is then is written down
	case r.Head.Value == nil:
		return finding{}
	}
	v := l.term(r.Head.Value, vars)
	if f == maybe && !v.isPart {
		v.value = nil // it may be undefined
	}
	return v
}

// arguments returns what is known of the parameters of an else branch.
func (l *absence) arguments(branch, r *ast.Rule, vars findings) findings {
	out := findings{}
	for i, arg := range r.Head.Args {
		from, isVar := arg.Value.(ast.Var)
		if !isVar || i >= len(branch.Head.Args) {
			continue
		}
		if to, isVar := branch.Head.Args[i].Value.(ast.Var); isVar {
			out[to] = vars[from]
		}
	}
	return out
}

// call evaluates a call.
func (l *absence) call(terms []*ast.Term, vars findings) fate {
	name := terms[0].String()
	if name == "eq" && len(terms) == 3 {
		return l.unify(terms[1], terms[2], vars)
	}
	n := l.Arity(terms[0])
	if n < 0 || len(terms) < n+1 {
		return maybe
	}
	args := make([]finding, n)
	for i, t := range terms[1 : n+1] {
		if args[i] = l.term(t, vars); args[i].absent {
			return fails
		}
	}
	var result finding
	if functions.Builtin(name) != nil {
		result = l.builtin(name, terms[1:n+1], args)
	} else {
		result = l.function(terms[0], args)
	}
	if len(terms) == n+2 {
		if result.absent {
			return fails
		}
		return l.match(terms[n+1], result, vars)
	}
	return l.truth(result)
}

// builtin evaluates a built-in function, as far as its arguments are known.
func (l *absence) builtin(name string, terms []*ast.Term, args []finding) finding {
	if name == "internal.member_2" && isEmpty(args[1].value) || name == "internal.member_3" && isEmpty(args[2].value) {
		return finding{absent: true}
	}
	if name == "object.get" && args[0].isPart {
		return l.got(args[0], terms[1], args[2])
	}
	if name == "object.keys" && args[0].isPart && l.keyed {
		return finding{path: args[0].path, isKeys: true}
	}
	if name == "internal.member_2" && args[1].isKeys && args[0].value != nil && l.lacks(args[1], args[0].value, nil) {
		return finding{value: ast.Boolean(false)}
	}
	known := make([]*ast.Term, len(args))
	for i, arg := range args {
		if arg.value == nil {
			return finding{}
		}
		known[i] = ast.NewTerm(arg.value)
	}
	if !values.IsFolded(name) && !isComparison(name) && !(l.keyed && isPredicate(name)) {
		return finding{}
	}
	t, err := l.Analysis.Call(name, known)
	switch {
	case err != nil:
		return finding{}
	case t == nil:
		return finding{absent: true}
	}
	return finding{value: t.Value}
}

// got evaluates object.get: with a default for the missing member it says what is
// then.
func (l *absence) got(object finding, key *ast.Term, otherwise finding) finding {
	path := slices.Clone(object.path)
	for _, t := range places.PathOf(key) {
		path = append(path, l.index(t, nil))
	}
	switch {
	case !l.within(path):
		return finding{path: path, isPart: true}
	case l.keyed:
		return otherwise
	}
	return finding{}
}

// isComparison says that a function compares.
func isComparison(name string) bool {
	switch name {
	case "equal", "neq", "gt", "gte", "lt", "lte", "internal.member_2":
		return true
	}
	return false
}

// isPredicate says that a function answers whether a value is so, by its arguments alone.
func isPredicate(name string) bool {
	switch name {
	case "startswith", "endswith", "contains", "strings.any_prefix_match", "strings.any_suffix_match", "regex.match", "glob.match",
		"is_string", "is_null", "is_number", "is_boolean", "is_array", "is_object":
		return true
	}
	return false
}

// function evaluates a function of the policies.
func (l *absence) function(name *ast.Term, args []finding) finding {
	ref, ok := name.Value.(ast.Ref)
	if !ok || l.depth >= values.MaxNested {
		return finding{}
	}
	rules := l.Compiler.GetRulesExact(ref)
	if hasDefault(rules) {
		return finding{}
	}
	if one := l.only[ref.String()]; one != nil {
		rules = []*ast.Rule{one}
	}
	var found []finding
	for _, r := range rules {
		vars, fits := findings{}, true
		for i, arg := range r.Head.Args {
			fits = fits && i < len(args) && l.match(arg, args[i], vars) != fails
		}
		if fits {
			if v := l.rule(r, vars); !v.absent {
				found = append(found, v)
			}
		}
	}
	switch len(found) {
	case 0:
		return finding{absent: true}
	case 1:
		return found[0]
	}
	return finding{}
}

// unify evaluates an equation.
func (l *absence) unify(x, y *ast.Term, vars findings) fate {
	for _, sides := range [][2]*ast.Term{{x, y}, {y, x}} {
		if v, ok := sides[0].Value.(ast.Var); ok {
			if _, known := vars[v]; !known {
				value := l.term(sides[1], vars)
				if value.absent {
					return fails
				}
				return l.match(sides[0], value, vars)
			}
		}
	}
	a, b := l.term(x, vars), l.term(y, vars)
	if a.absent || b.absent {
		return fails
	}
	if a.value != nil && b.value != nil {
		if a.value.Compare(b.value) == 0 {
			return holds
		}
		return fails
	}
	if l.match(x, b, vars) == fails || l.match(y, a, vars) == fails {
		return fails
	}
	return maybe
}

// match gives the variables of a pattern their parts of a value.
func (l *absence) match(pattern *ast.Term, value finding, vars findings) fate {
	switch p := pattern.Value.(type) {
	case ast.Var:
		if _, known := vars[p]; known {
			return maybe
		}
		vars[p] = value
		if value.value != nil {
			return holds
		}
		return maybe
	case ast.Object:
		result := maybe
		p.Foreach(func(key, part *ast.Term) {
			if !ast.IsScalar(key.Value) {
				return
			}
			if v := l.step(value, key, vars); v.absent || l.match(part, v, vars) == fails {
				result = fails
			}
		})
		return result
	case *ast.Array:
		for i := range p.Len() {
			if v := l.step(value, ast.InternedTerm(i), vars); v.absent || l.match(p.Elem(i), v, vars) == fails {
				return fails
			}
		}
		return maybe
	}
	if ast.IsScalar(pattern.Value) && value.value != nil {
		if pattern.Value.Compare(value.value) == 0 {
			return holds
		}
		return fails
	}
	return maybe
}
