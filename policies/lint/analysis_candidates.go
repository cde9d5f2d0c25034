package lint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// A constant is a value that is written out in a policy or in a data file.
type constant struct {
	*ast.Term
	near *ast.Location // of what it is a part of, when it has no location itself
	path string        // instead: its path in base data
	key  bool          // it is the key of a table
}

// constantAt returns a constant that is written at or near a location.
func constantAt(t *ast.Term, near *ast.Location) constant { return constant{Term: t, near: near} }

// isKey says that the constant is the key of a table.
func (c constant) isKey() bool { return c.key }

// inData says that the constant is written in base data.
func (c constant) inData() bool { return c.path != "" }

// asKeys marks constants as keys of a table.
func asKeys(s valueSet) valueSet {
	for i, c := range s.list {
		if c, ok := c.(constant); ok {
			c.key = true
			s.list[i] = c
		}
	}
	return s
}

// within returns a part of the constant.
func (c constant) within(t *ast.Term) constant {
	near := c.Location
	if near == nil {
		near = c.near
	}
	return constant{Term: t, near: near}
}

func (c constant) member(_ *analysis, index *ast.Term) valueSet {
	switch v := c.Value.(type) {
	case ast.Object:
		if value := v.Get(index); value != nil {
			return only(c.within(value))
		}
	case *ast.Array:
		if value := v.Get(index); value != nil {
			return only(c.within(value))
		}
	case ast.Set:
		if v.Contains(index) {
			return only(c.within(index))
		}
	}
	return valueSet{}
}

func (c constant) elements(*analysis) (all valueSet) {
	add := func(t *ast.Term) { all.list = append(all.list, c.within(t)) }
	switch v := c.Value.(type) {
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { add(value) })
	case policydir.Collection:
		v.Foreach(add)
	}
	return all
}

func (c constant) keys(*analysis) (all valueSet) {
	add := func(t *ast.Term) { all.list = append(all.list, c.within(t)) }
	switch v := c.Value.(type) {
	case ast.Object:
		v.Foreach(func(key, _ *ast.Term) { add(key) })
		return asKeys(all)
	case ast.Set:
		v.Foreach(add)
	case *ast.Array:
		return anything()
	}
	return all
}

// An inputPart is the input or a part of it.
type inputPart struct {
	path  places.Path
	at    places.Input // empty: nothing is known of it
	frame *frame       // the frame in which input was read
}

// isToolName says that the part is input.tool.name.
func (p inputPart) isToolName() bool {
	names, ok := p.path.Names()
	return ok && slices.Equal(names, []string{"tool", "name"})
}

func (p inputPart) member(a *analysis, index *ast.Term) valueSet {
	next := inputPart{path: append(slices.Clone(p.path), index), frame: p.frame}
	next.at, _ = p.at.Step(index)
	if len(p.path) == 0 && index.Equal(ast.StringTerm("args")) {
		next.at = a.argsIn(p.frame)
	}
	return only(next)
}

func (p inputPart) elements(a *analysis) valueSet {
	return p.member(a, ast.VarTerm(ast.WildcardPrefix))
}

func (p inputPart) keys(*analysis) valueSet { return anything() }

// A literal is a collection that is written out, not all of it constant, or a comprehension.
type literal struct {
	term  *ast.Term
	frame *frame
}

func (l literal) member(a *analysis, index *ast.Term) valueSet {
	switch v := l.term.Value.(type) {
	case ast.Object:
		if value := v.Get(index); value != nil {
			return a.values(value, l.frame)
		}
		return valueSet{open: !constantKeys(v)}
	case *ast.Array:
		if value := v.Get(index); value != nil {
			return a.values(value, l.frame)
		}
		return valueSet{}
	case *ast.ArrayComprehension:
		return a.values(v.Term, l.frame)
	case *ast.ObjectComprehension:
		return a.values(v.Value, l.frame)
	}
	return only(constant{Term: index})
}

// constantKeys says that the keys of an object are all known.
func constantKeys(o ast.Object) bool {
	known := true
	o.Foreach(func(key, _ *ast.Term) { known = known && ast.IsConstant(key.Value) })
	return known
}

func (l literal) elements(a *analysis) (all valueSet) {
	add := func(t *ast.Term) { all = all.and(a.values(t, l.frame)) }
	switch v := l.term.Value.(type) {
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { add(value) })
	case *ast.ArrayComprehension:
		add(v.Term)
	case *ast.SetComprehension:
		add(v.Term)
	case *ast.ObjectComprehension:
		add(v.Value)
	case policydir.Collection:
		v.Foreach(add)
	default:
		return anything()
	}
	return all
}

func (l literal) keys(a *analysis) (all valueSet) {
	add := func(t *ast.Term) { all = all.and(a.values(t, l.frame)) }
	switch v := l.term.Value.(type) {
	case ast.Object:
		v.Foreach(func(key, _ *ast.Term) { add(key) })
		return asKeys(all)
	case ast.Set:
		v.Foreach(add)
	case *ast.SetComprehension:
		add(v.Term)
	case *ast.ObjectComprehension:
		add(v.Key)
	default:
		return anything()
	}
	return all
}

// A partial is a set or an object that rules make, entry by entry.
type partial struct {
	rules []*ast.Rule
	frame *frame // that uses them
}

// entries joins what f returns for the entry of every rule.
func (p partial) entries(a *analysis, f func(key, value *ast.Term, in *frame) valueSet) (all valueSet) {
	if p.frame.depth >= maxNested {
		return anything()
	}
	for _, r := range p.rules {
		in := newFrame(r, nil, a.entering(r, p.frame), p.frame.depth+1)
		in = in.with(a.narrowed(r.Body, in))
		key := r.Head.Key
		if ref := r.Head.Ref(); key == nil && len(ref) == 2 {
			key = ref[1]
		}
		if key == nil || r.Else != nil {
			return anything()
		}
		all = all.and(f(key, r.Head.Value, in))
	}
	return all
}

func (p partial) member(a *analysis, index *ast.Term) valueSet {
	return p.entries(a, func(key, value *ast.Term, in *frame) valueSet {
		switch {
		case ast.IsConstant(key.Value) && !key.Equal(index):
			return valueSet{}
		case value == nil:
			return only(constant{Term: index})
		}
		return a.values(value, in)
	})
}

func (p partial) elements(a *analysis) valueSet {
	return p.entries(a, func(key, value *ast.Term, in *frame) valueSet {
		if value == nil {
			return a.values(key, in)
		}
		return a.values(value, in)
	})
}

func (p partial) keys(a *analysis) valueSet {
	return p.entries(a, func(key, value *ast.Term, in *frame) valueSet {
		if value == nil {
			return a.values(key, in)
		}
		return asKeys(a.values(key, in))
	})
}

// memberNames are the names of the members of a part of the input, as a set.
type memberNames struct{ of inputPart }

func (memberNames) member(*analysis, *ast.Term) valueSet { return anything() }

func (memberNames) elements(*analysis) valueSet { return anything() }

func (memberNames) keys(*analysis) valueSet { return anything() }

// closedFor says that no schema of the part allows a member.
func (p inputPart) closedFor(name *ast.Term) bool {
	_, closed := p.at.Step(name)
	return closed
}

// isFacts says that the part has a member for each declared tool.
func (p inputPart) isFacts() bool {
	names, ok := p.path.Names()
	return ok && (slices.Equal(names, []string{"run", "counts"}) || slices.Equal(names, []string{"run", "succeeded"}))
}

// ofApplication says that the values of the part are names that each application
// declares for itself, in a place where all have some.
func (p inputPart) ofApplication() bool {
	return p.isToolName() || len(p.path) == 3 && p.path[0].Equal(ast.StringTerm("tool")) && p.path[1].Equal(ast.StringTerm("capabilities"))
}

// alwaysThere says that every call of the tools has a part of the input.
func (a *analysis) alwaysThere(p inputPart) bool {
	at := inputPart{at: places.Input{a.SchemaOf(p.frame.rule.Module.Package.Path)}, frame: p.frame}
	for _, index := range p.path {
		name, ok := index.Value.(ast.String)
		if !ok || len(at.at) == 0 || slices.ContainsFunc(at.at, func(s schema.Schema) bool { return !s.Requires(string(name)) }) {
			return false
		}
		next, ok := at.member(a, index).list[0].(inputPart)
		if !ok {
			return false
		}
		at = next
	}
	return true
}
