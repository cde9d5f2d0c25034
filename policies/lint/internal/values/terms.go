package values

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// Values returns what a term can be in a frame.
func (a *Analysis) Values(t *ast.Term, f *Frame) Set {
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
		return a.RefValues(v, f)
	case ast.Call:
		if n := a.Arity(v[0]); n == len(v)-1 {
			return a.result(v, f)
		}
		return Anything()
	}
	if ast.IsConstant(t.Value) {
		return Only(Constant{Term: t})
	}
	s := Only(Literal{t, f})
	if list, ok := t.Value.(*ast.Array); ok { // what a function makes a text of
		var elements []*ast.Term
		list.Foreach(func(t *ast.Term) { elements = append(elements, t) })
		s = s.madeOf(a.Passed(elements, f))
	}
	return s
}

// Side returns what a side of a comparison can be, as far as other expressions tell.
func (a *Analysis) Side(t *ast.Term, f *Frame, e *ast.Expr) Set {
	if v, ok := t.Value.(ast.Var); ok {
		return a.variable(v, f, e)
	}
	return a.Values(t, f)
}

// variable returns what gives a variable its value, but for one expression. What
// it is equal to tells more than what it is the index of.
func (a *Analysis) variable(v ast.Var, f *Frame, but *ast.Expr) Set {
	if f.busy[v] {
		return Anything()
	}
	f.busy[v] = true
	defer delete(f.busy, v)
	s := a.scopeOf(f.Rule)
	best, found := Anything(), false
	for _, list := range [][]definition{s.params[v], s.locals[v]} {
		for _, index := range []bool{false, true} {
			for _, d := range list {
				if d.index != index || but != nil && d.by == but {
					continue
				}
				values := d.value(f)
				if !values.open && len(values.list) > 0 && !values.computed() {
					return values
				}
				if !found || best.open {
					best, found = values, true
				}
			}
		}
	}
	return best
}

// RefValues returns what a reference can lead to.
func (a *Analysis) RefValues(ref ast.Ref, f *Frame) Set {
	var s Set
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		s = Only(InputPart{At: places.Input{a.SchemaOf(f.Rule.Module.Package.Path)}, Frame: f})
	case ref[0].Equal(ast.DefaultRootDocument):
		s = Only(a.rootDocument(f))
	default:
		s = a.Values(ref[0], f)
	}
	for _, index := range ref[1:] {
		from := s
		s = a.Step(from, index, f)
		if s.of, s.made, s.not = from.of, from.made, from.not; a.Ranges(index, f) {
			s.of, s.made, s.not = &from, false, false
		}
	}
	return s
}

// Ranges says that an index goes through all that there is: nothing else gives it a value.
func (a *Analysis) Ranges(index *ast.Term, f *Frame) bool {
	v, ok := index.Value.(ast.Var)
	if !ok {
		return false
	}
	s := a.scopeOf(f.Rule)
	return len(s.params[v]) == 0 && !slices.ContainsFunc(s.locals[v], func(d definition) bool { return !d.index })
}

// Step returns what an index of a term's values leads to.
func (a *Analysis) Step(s Set, index *ast.Term, f *Frame) Set {
	names, ok := []Constant{{Term: index}}, ast.IsScalar(index.Value)
	if !ok {
		names, ok = a.Values(index, f).AllConstants()
	}
	if !ok || len(names) > MaxAlternatives {
		return a.Elements(s)
	}
	var all Set
	for _, name := range names {
		t := ast.NewTerm(name.Value).SetLocation(index.Location)
		all = all.and(s.Each(func(c Candidate) Set { return c.member(a, t) }))
	}
	return all
}

// Elements returns what any index of a term's values leads to.
func (a *Analysis) Elements(s Set) Set {
	return s.Each(func(c Candidate) Set { return c.elements(a) })
}

// Keys returns the indexes of a term's values that lead somewhere; of a set its elements.
func (a *Analysis) Keys(s Set) Set {
	return s.Each(func(c Candidate) Set { return c.keys(a) })
}

// Passed returns what a call passes.
func (a *Analysis) Passed(args []*ast.Term, f *Frame) []Set {
	sets := make([]Set, len(args))
	for i, t := range args {
		sets[i] = a.Values(t, f)
	}
	return sets
}

// result returns what a call can return; the function is its first term.
func (a *Analysis) result(call []*ast.Term, f *Frame) Set {
	name := call[0].String()
	if functions.Builtin(name) != nil {
		s := a.builtin(name, call[1:], f)
		if keepsApart(name) {
			s = s.madeOf(a.Passed(call[1:], f))
		}
		return s
	}
	ref, ok := call[0].Value.(ast.Ref)
	if !ok || f.Depth >= MaxNested {
		return Anything()
	}
	args := a.Passed(call[1:], f)
	var all Set
	for _, r := range a.Compiler.GetRulesExact(ref) {
		if a.admits(r, args) {
			all = all.and(a.ruleValue(r, args, f))
		}
	}
	return all.madeOf(args)
}

// keepsApart says that a built-in function mostly makes different values of different operands: of two elements it
// makes two texts, and one size or type.
func keepsApart(name string) bool {
	switch name {
	case "count", "type_name", "sum", "product", "max", "min":
		return false
	}
	return !functions.Builtin(name).Relation && KindsOfResult(name)&schema.BooleanKind == 0 || name == "object.get"
}

// admits says that a function can be called with some values: its constant
// arguments are among them.
func (a *Analysis) admits(r *ast.Rule, args []Set) bool {
	for i, arg := range r.Head.Args {
		if i >= len(args) || !ast.IsConstant(arg.Value) {
			continue
		}
		if passed, ok := args[i].AllConstants(); ok && !Contains(passed, arg.Value) {
			return false
		}
	}
	return true
}

// Contains says that one of some constants is a value.
func Contains(all []Constant, v ast.Value) bool {
	for _, c := range all {
		if c.Value.Compare(v) == 0 {
			return true
		}
	}
	return false
}

// ruleValue returns the values of a rule, those of its else branches included.
func (a *Analysis) ruleValue(r *ast.Rule, args []Set, from *Frame) Set {
	if from.Depth >= MaxNested {
		return Anything()
	}
	var all Set
	for ; r != nil; r = r.Else {
		if r.Head.Value == nil {
			return Anything()
		}
		f := NewFrame(r, args, a.Entering(r, from), from.Depth+1)
		value := a.Values(r.Head.Value, f.With(a.Narrowed(r.Body, f)))
		if !a.IsClosed(r) {
			value = answers(value)
		}
		all = all.and(value)
	}
	return all
}

// answers marks constants as what a rule answers, which depends on the call.
func answers(s Set) Set {
	list := slices.Clone(s.list)
	for i, c := range list {
		if c, ok := c.(Constant); ok {
			c.answer = true
			list[i] = c
		}
	}
	return Set{list: list, open: s.open}
}

// Contradicts says that an expression compares constants that are not equal.
func (a *Analysis) Contradicts(e *ast.Expr, f *Frame) bool {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || len(terms) != 3 || terms[0].String() != "eq" {
		return false
	}
	x, knownX := a.Side(terms[1], f, e).AllConstants()
	y, knownY := a.Side(terms[2], f, e).AllConstants()
	if !knownX || !knownY || len(x)*len(y) > maxEntries {
		return false
	}
	for _, c := range x {
		if Contains(y, c.Value) {
			return false
		}
	}
	return true
}

// AlwaysThere says that every call of the tools has a part of the input.
func (a *Analysis) AlwaysThere(p InputPart) bool {
	at := InputPart{At: places.Input{a.SchemaOf(p.Frame.Rule.Module.Package.Path)}, Frame: p.Frame}
	for _, index := range p.Path {
		name, ok := index.Value.(ast.String)
		if !ok || len(at.At) == 0 || slices.ContainsFunc(at.At, func(s schema.Schema) bool { return !s.Requires(string(name)) }) {
			return false
		}
		next, ok := at.member(a, index).list[0].(InputPart)
		if !ok {
			return false
		}
		at = next
	}
	return true
}
