package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// values returns what a term can be in a frame.
func (a *analysis) values(t *ast.Term, f *frame) valueSet {
	switch v := t.Value.(type) {
	case ast.Var:
		if s, ok := f.known[v]; ok {
			return s
		}
		s := a.variable(v, f, nil)
		if len(f.busy) == 0 {
			f.known[v] = s
		}
		return s
	case ast.Ref:
		return a.refValues(v, f)
	case ast.Call:
		if n := a.arity(v[0]); n == len(v)-1 {
			return a.result(v, f)
		}
		return anything()
	}
	if ast.IsConstant(t.Value) {
		return only(constant{Term: t})
	}
	return only(literal{t, f})
}

// side returns what a side of a comparison can be, as far as other expressions tell.
func (a *analysis) side(t *ast.Term, f *frame, e *ast.Expr) valueSet {
	if v, ok := t.Value.(ast.Var); ok {
		return a.variable(v, f, e)
	}
	return a.values(t, f)
}

// variable returns what gives a variable its value, but for one expression. What
// it is equal to tells more than what it is the index of.
func (a *analysis) variable(v ast.Var, f *frame, but *ast.Expr) valueSet {
	if f.busy[v] {
		return anything()
	}
	f.busy[v] = true
	defer delete(f.busy, v)
	s := a.scopeOf(f.rule)
	best, found := anything(), false
	for _, list := range [][]definition{s.params[v], s.locals[v]} {
		for _, index := range []bool{false, true} {
			for _, d := range list {
				if d.index != index || but != nil && d.by == but {
					continue
				}
				values := d.value(f)
				if !values.open && len(values.list) > 0 {
					return values
				}
				if !found {
					best, found = values, true
				}
			}
		}
	}
	return best
}

// refValues returns what a reference can lead to.
func (a *analysis) refValues(ref ast.Ref, f *frame) valueSet {
	var s valueSet
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		s = only(inputPart{at: places.Input{a.SchemaOf(f.rule.Module.Package.Path)}, frame: f})
	case ref[0].Equal(ast.DefaultRootDocument):
		s = only(a.rootDocument(f))
	default:
		s = a.values(ref[0], f)
	}
	for _, index := range ref[1:] {
		s = a.step(s, index, f)
	}
	return s
}

// step returns what an index of a term's values leads to.
func (a *analysis) step(s valueSet, index *ast.Term, f *frame) valueSet {
	names, ok := []constant{{Term: index}}, ast.IsScalar(index.Value)
	if !ok {
		names, ok = a.values(index, f).allConstants()
	}
	if !ok || len(names) > maxAlternatives {
		return a.elements(s)
	}
	var all valueSet
	for _, name := range names {
		t := ast.NewTerm(name.Value).SetLocation(index.Location)
		all = all.and(s.each(func(c candidate) valueSet { return c.member(a, t) }))
	}
	return all
}

// elements returns what any index of a term's values leads to.
func (a *analysis) elements(s valueSet) valueSet {
	return s.each(func(c candidate) valueSet { return c.elements(a) })
}

// keys returns the indexes of a term's values that lead somewhere; of a set its elements.
func (a *analysis) keys(s valueSet) valueSet {
	return s.each(func(c candidate) valueSet { return c.keys(a) })
}

// passed returns what a call passes.
func (a *analysis) passed(args []*ast.Term, f *frame) []valueSet {
	sets := make([]valueSet, len(args))
	for i, t := range args {
		sets[i] = a.values(t, f)
	}
	return sets
}

// result returns what a call can return; the function is its first term.
func (a *analysis) result(call []*ast.Term, f *frame) valueSet {
	name := call[0].String()
	if functions.Builtin(name) != nil {
		return a.builtin(name, call[1:], f)
	}
	ref, ok := call[0].Value.(ast.Ref)
	if !ok || f.depth >= maxNested {
		return anything()
	}
	args := a.passed(call[1:], f)
	var all valueSet
	for _, r := range a.Compiler.GetRulesExact(ref) {
		if a.admits(r, args) {
			all = all.and(a.ruleValue(r, args, f))
		}
	}
	return all
}

// admits says that a function can be called with some values: its constant
// arguments are among them.
func (a *analysis) admits(r *ast.Rule, args []valueSet) bool {
	for i, arg := range r.Head.Args {
		if i >= len(args) || !ast.IsConstant(arg.Value) {
			continue
		}
		if passed, ok := args[i].allConstants(); ok && !containsValue(passed, arg.Value) {
			return false
		}
	}
	return true
}

// containsValue says that one of some constants is a value.
func containsValue(all []constant, v ast.Value) bool {
	for _, c := range all {
		if c.Value.Compare(v) == 0 {
			return true
		}
	}
	return false
}

// ruleValue returns the values of a rule, those of its else branches included.
func (a *analysis) ruleValue(r *ast.Rule, args []valueSet, from *frame) valueSet {
	if from.depth >= maxNested {
		return anything()
	}
	var all valueSet
	for ; r != nil; r = r.Else {
		if r.Head.Value == nil {
			return anything()
		}
		f := newFrame(r, args, a.entering(r, from), from.depth+1)
		all = all.and(a.values(r.Head.Value, f.with(a.narrowed(r.Body, f))))
	}
	return all
}

// contradicts says that an expression compares constants that are not equal.
func (a *analysis) contradicts(e *ast.Expr, f *frame) bool {
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
