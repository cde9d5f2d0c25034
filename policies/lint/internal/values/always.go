package values

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// maxSteps bounds how many terms are looked at to find out whether a value is always there.
const maxSteps = 5000

// sometimes are the built-in functions that have no answer for some operands, without an error.
var sometimes = []string{"max", "min", "uuid.parse", "walk"}

// AlwaysAnswers says that a built-in function has an answer for all operands for which it does not fail.
func AlwaysAnswers(name string) bool { return !slices.Contains(sometimes, name) }

// Always says that a term has a value in every call that gets there. It is false where that is not known.
func (a *Analysis) Always(t *ast.Term, f *Frame) bool {
	if a.within == 0 {
		a.steps = maxSteps
	}
	if a.steps--; a.steps < 0 {
		return false
	}
	a.within++
	defer func() { a.within-- }()
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
	by := s.locals[v]
	if first := s.first[v]; first != nil { // what follows uses the value, or compares with it
		by = slices.DeleteFunc(slices.Clone(by), func(d definition) bool { return d.by != first })
	}
	return len(by) > 0 && !slices.ContainsFunc(by, func(d definition) bool { return d.index || d.sure == nil || !d.sure(f) })
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
		return AlwaysAnswers(name)
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
		needs, ok := a.onlyNeed(r, from)
		for _, other := range rules[i+1:] {
			if otherNeeds, otherOK := a.onlyNeed(other, from); ok && otherOK && needs.text == otherNeeds.text && needs.not != otherNeeds.not {
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
	return !slices.ContainsFunc(r.Body, func(e *ast.Expr) bool { return !a.assigns(e, f) }) && (r.Head.Value == nil || a.Always(r.Head.Value, f))
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
			return a.gives(terms[1], e, f) && a.Always(terms[2], f) || a.gives(terms[2], e, f) && a.Always(terms[1], f)
		}
		n := a.Arity(terms[0])
		return n >= 0 && len(terms) == n+2 && a.gives(terms[n+1], e, f) && a.alwaysCall(terms[:n+1], f)
	}
	return false
}

// gives says that a variable has no value before an expression of its body.
func (a *Analysis) gives(t *ast.Term, e *ast.Expr, f *Frame) bool {
	v, isVar := t.Value.(ast.Var)
	s := a.scopeOf(f.Rule)
	return isVar && len(s.params[v]) == 0 && s.first[v] == e
}

// A need is the one condition of a rule, written so that equal conditions of other rules have the same text.
type need struct {
	text string
	not  bool
}

// mirrored are the comparisons as others, with the operands the other way round or negated.
var mirrored = map[string]struct {
	name      string
	swap, not bool
}{
	"equal": {name: "eq"}, "neq": {name: "eq", not: true},
	"gt": {name: "lt", swap: true}, "gte": {name: "lt", not: true}, "lte": {name: "lt", swap: true, not: true},
}

// onlyNeed returns the condition of a rule that has one, about values that are always there, and always has a value where
// the condition holds.
func (a *Analysis) onlyNeed(r *ast.Rule, from *Frame) (only need, ok bool) {
	f := NewFrame(r, nil, a.Entering(r, from), from.Depth+1)
	if f.Depth > MaxNested || r.Else != nil || r.Head.Value != nil && !a.Always(r.Head.Value, f) {
		return need{}, false
	}
	n := 0
	for i, arg := range r.Head.Args {
		if _, isVar := arg.Value.(ast.Var); isVar {
			continue
		}
		if !ast.IsConstant(arg.Value) {
			return need{}, false
		}
		n++
		only = needOf("eq", []string{parameter(i), arg.String()}, false)
	}
	for _, e := range r.Body {
		if a.assigns(e, f) {
			continue
		}
		if n++; n > 1 || len(e.With) > 0 {
			return need{}, false
		}
		switch terms := e.Terms.(type) {
		case *ast.Term:
			only = needOf("", []string{a.Written(terms, r)}, e.Negated)
		case []*ast.Term:
			if len(terms) != a.Arity(terms[0])+1 || slices.ContainsFunc(terms[1:], func(t *ast.Term) bool { return !a.Always(t, f) }) {
				return need{}, false
			}
			var args []string
			for _, t := range terms[1:] {
				args = append(args, a.Written(t, r))
			}
			only = needOf(terms[0].String(), args, e.Negated)
		default:
			return need{}, false
		}
	}
	return only, n == 1
}

// needOf returns the condition that a function holds, or does not hold.
func needOf(name string, args []string, not bool) need {
	if as, ok := mirrored[name]; ok {
		name, not = as.name, not != as.not
		if as.swap {
			slices.Reverse(args)
		}
	}
	if name == "eq" {
		slices.Sort(args)
	}
	return need{name + "(" + strings.Join(args, ", ") + ")", not}
}

// parameter names a parameter of a function.
func parameter(i int) string { return fmt.Sprintf("$%d", i) }

// Written writes a term without the names of the variables of its rule: parameters by their position, and others by what
// they are when the body begins to use them.
func (a *Analysis) Written(t *ast.Term, r *ast.Rule) string {
	text := t.String()
	s := a.scopeOf(r)
	put := func(v *ast.Term, e *ast.Expr, value string) bool {
		name, isVar := v.Value.(ast.Var)
		if !isVar || len(s.params[name]) > 0 || s.first[name] != e {
			return false
		}
		text = strings.ReplaceAll(text, name.String(), value)
		return true
	}
	for _, e := range slices.Backward(r.Body) {
		terms, ok := e.Terms.([]*ast.Term)
		if !ok || e.Negated || len(e.With) > 0 {
			continue
		}
		if terms[0].String() == "eq" && len(terms) == 3 {
			_ = put(terms[1], e, terms[2].String()) || put(terms[2], e, terms[1].String())
		} else if n := a.Arity(terms[0]); n >= 0 && len(terms) == n+2 {
			put(terms[n+1], e, ast.Call(terms[:n+1]).String())
		}
	}
	for i, arg := range r.Head.Args {
		text = strings.ReplaceAll(text, arg.String(), parameter(i))
	}
	return text
}
