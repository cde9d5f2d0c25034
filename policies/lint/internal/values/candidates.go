package values

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// A Constant is a value that is written out in a policy or in a data file.
type Constant struct {
	*ast.Term
	near *ast.Location // of what it is a part of, when it has no location itself
	path string        // instead: its path in base data
	key  bool          // it is the key of a table

	answer bool // of a rule or a function whose value depends on the call
}

// ConstantAt returns a constant that is written at or near a location.
func ConstantAt(t *ast.Term, near *ast.Location) Constant { return Constant{Term: t, near: near} }

// IsKey says that the constant is the key of a table.
func (c Constant) IsKey() bool { return c.key }

// IsAnswer says that the constant is what a rule or a function answers to some calls.
func (c Constant) IsAnswer() bool { return c.answer }

// InData says that the constant is written in base data.
func (c Constant) InData() bool { return c.path != "" }

// asKeys marks constants as keys of a table.
func asKeys(s Set) Set {
	for i, c := range s.list {
		if c, ok := c.(Constant); ok {
			c.key = true
			s.list[i] = c
		}
	}
	return s
}

// within returns a part of the constant.
func (c Constant) within(t *ast.Term) Constant {
	near := c.Location
	if near == nil {
		near = c.near
	}
	return Constant{Term: t, near: near}
}

func (c Constant) member(_ *Analysis, index *ast.Term) Set {
	switch v := c.Value.(type) {
	case ast.Object:
		if value := v.Get(index); value != nil {
			return Only(c.within(value))
		}
	case *ast.Array:
		if value := v.Get(index); value != nil {
			return Only(c.within(value))
		}
	case ast.Set:
		if v.Contains(index) {
			return Only(c.within(index))
		}
	}
	return Set{}
}

func (c Constant) elements(*Analysis) (all Set) {
	add := func(t *ast.Term) { all.list = append(all.list, c.within(t)) }
	switch v := c.Value.(type) {
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { add(value) })
	case policydir.Collection:
		v.Foreach(add)
	}
	return all
}

func (c Constant) keys(*Analysis) (all Set) {
	add := func(t *ast.Term) { all.list = append(all.list, c.within(t)) }
	switch v := c.Value.(type) {
	case ast.Object:
		v.Foreach(func(key, _ *ast.Term) { add(key) })
		return asKeys(all)
	case ast.Set:
		v.Foreach(add)
	case *ast.Array:
		return Anything()
	}
	return all
}

// An InputPart is the input or a part of it.
type InputPart struct {
	Path  places.Path
	At    places.Input // empty: nothing is known of it
	Frame *Frame       // the frame in which input was read
}

// IsToolName says that the part is input.tool.name.
func (p InputPart) IsToolName() bool {
	names, ok := p.Path.Names()
	return ok && slices.Equal(names, []string{"tool", "name"})
}

// IsFacts says that the part has a member for each declared tool.
func (p InputPart) IsFacts() bool {
	names, ok := p.Path.Names()
	return ok && (slices.Equal(names, []string{"run", "counts"}) || slices.Equal(names, []string{"run", "succeeded"}))
}

// OfApplication says that the values of the part are names that each application
// declares for itself, in a place where all have some.
func (p InputPart) OfApplication() bool {
	return p.IsToolName() || len(p.Path) == 3 && p.Path[0].Equal(ast.StringTerm("tool")) && p.Path[1].Equal(ast.StringTerm("capabilities"))
}

// ClosedFor says that no schema of the part allows a member.
func (p InputPart) ClosedFor(name *ast.Term) bool {
	_, closed := p.At.Step(name)
	return closed
}

func (p InputPart) member(a *Analysis, index *ast.Term) Set {
	next := InputPart{Path: append(slices.Clone(p.Path), index), Frame: p.Frame}
	next.At, _ = p.At.Step(index)
	if len(p.Path) == 0 && index.Equal(ast.StringTerm("args")) {
		next.At = a.argsIn(p.Frame)
	}
	return Only(next)
}

func (p InputPart) elements(a *Analysis) Set {
	return p.member(a, ast.VarTerm(ast.WildcardPrefix))
}

func (p InputPart) keys(*Analysis) Set { return Anything() }

// A Literal is a collection that is written out, not all of it constant, or a comprehension.
type Literal struct {
	Term  *ast.Term
	Frame *Frame
}

func (l Literal) member(a *Analysis, index *ast.Term) Set {
	switch v := l.Term.Value.(type) {
	case ast.Object:
		if value := v.Get(index); value != nil {
			return a.Values(value, l.Frame)
		}
		return Set{open: !constantKeys(v)}
	case *ast.Array:
		if value := v.Get(index); value != nil {
			return a.Values(value, l.Frame)
		}
		return Set{}
	case *ast.ArrayComprehension:
		return a.Values(v.Term, l.Frame)
	case *ast.ObjectComprehension:
		return a.Values(v.Value, l.Frame)
	}
	return Only(Constant{Term: index})
}

// constantKeys says that the keys of an object are all known.
func constantKeys(o ast.Object) bool {
	known := true
	o.Foreach(func(key, _ *ast.Term) { known = known && ast.IsConstant(key.Value) })
	return known
}

func (l Literal) elements(a *Analysis) (all Set) {
	add := func(t *ast.Term) { all = all.and(a.Values(t, l.Frame)) }
	switch v := l.Term.Value.(type) {
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
		return Anything()
	}
	return all
}

func (l Literal) keys(a *Analysis) (all Set) {
	add := func(t *ast.Term) { all = all.and(a.Values(t, l.Frame)) }
	switch v := l.Term.Value.(type) {
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
		return Anything()
	}
	return all
}

// A partial is a set or an object that rules make, entry by entry.
type partial struct {
	rules []*ast.Rule
	frame *Frame // that uses them
	whole bool   // it is a set as a whole
}

// entries joins what f returns for the entry of every rule. The value is nil in a set; in an object of sets it is one of these.
func (p partial) entries(a *Analysis, f func(key *ast.Term, value func() Set, in *Frame) Set) (all Set) {
	if p.frame.Depth >= MaxNested {
		return Anything()
	}
	for _, r := range p.rules {
		in := NewFrame(r, nil, a.Entering(r, p.frame), p.frame.Depth+1)
		in = in.With(a.Narrowed(r.Body, in))
		key, ref, isSet := r.Head.Key, r.Head.Ref(), r.Head.RuleKind() == ast.MultiValue
		if !p.whole && len(ref) == 2 {
			key = ref[1]
		}
		if key == nil || r.Else != nil || !p.whole && len(ref) > 2 {
			return Anything()
		}
		var value func() Set
		switch {
		case !p.whole && isSet:
			value = func() Set { return Only(partial{[]*ast.Rule{r}, p.frame, true}) }
		case r.Head.Value != nil:
			value = func() Set { return a.Values(r.Head.Value, in) }
		}
		all = all.and(f(key, value, in))
	}
	return all
}

func (p partial) member(a *Analysis, index *ast.Term) Set {
	return p.entries(a, func(key *ast.Term, value func() Set, _ *Frame) Set {
		switch {
		case ast.IsConstant(key.Value) && !key.Equal(index):
			return Set{}
		case value == nil:
			return Only(Constant{Term: index})
		}
		return value()
	})
}

func (p partial) elements(a *Analysis) Set {
	return p.entries(a, func(key *ast.Term, value func() Set, in *Frame) Set {
		if value == nil {
			return a.Values(key, in)
		}
		return value()
	})
}

func (p partial) keys(a *Analysis) Set {
	return p.entries(a, func(key *ast.Term, value func() Set, in *Frame) Set {
		if value == nil {
			return a.Values(key, in)
		}
		return asKeys(a.Values(key, in))
	})
}

// memberNames are the names of the members of a part of the input, as a set.
type memberNames struct{ of InputPart }

func (memberNames) member(*Analysis, *ast.Term) Set { return Anything() }

func (memberNames) elements(*Analysis) Set { return Anything() }

func (memberNames) keys(*Analysis) Set { return Anything() }
