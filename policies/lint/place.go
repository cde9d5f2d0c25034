package lint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// A place is where a reference into the input can lead: to one schema in a
// tool's package, elsewhere to one for each tool that the call may be of. An
// empty place is one that no schema tells anything about.
type place []schema.Schema

// step follows one part of a reference. closed says that no schema allows it.
func (p place) step(t *ast.Term) (next place, closed bool) {
	name, isName := t.Value.(ast.String)
	closed = len(p) > 0 && isName
	for _, s := range p {
		var m schema.Schema
		found, ruledOut := false, false
		if isName {
			m, _, found, ruledOut = s.Member(string(name))
		}
		if !found {
			m, found = s.Element()
		}
		switch {
		case found:
			next, closed = append(next, m), false
		case !ruledOut:
			return nil, false // anything may stand there
		}
	}
	return next, closed
}

// names returns the members that one of the schemas declares.
func (p place) names() []string {
	var names []string
	for _, s := range p {
		names = append(names, s.Names()...)
	}
	return names
}

// values returns the closed set of values at the place, or nil.
func (p place) values() []any {
	var all []any
	for _, s := range p {
		values := s.Resolve().Values()
		if values == nil {
			return nil
		}
		for _, v := range values {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// kinds returns the kinds of value at the place.
func (p place) kinds() schema.Kinds {
	if len(p) == 0 {
		return schema.AnyKind
	}
	var all schema.Kinds
	for _, s := range p {
		all |= s.Kinds()
	}
	return all
}

// elements returns the kinds of what the objects at the place hold.
func (p place) elements() schema.Kinds {
	var all schema.Kinds
	for _, s := range p {
		all |= s.Elements()
	}
	return all
}

// argsOf returns where input.args leads for calls of tools.
func argsOf(b *policydir.Bundle, tools ...string) place {
	var p place
	for _, name := range tools {
		s, _, ok := b.Schemas[name].At([]string{"args"})
		if !ok {
			return nil
		}
		p = append(p, s)
	}
	return p
}

// steps are what follows input in a reference.
type steps []*ast.Term

// stepsOf returns the path that the second operand of object.get is: a key, or a
// list of them.
func stepsOf(key *ast.Term) (path steps) {
	list, ok := key.Value.(*ast.Array)
	if !ok {
		return steps{key}
	}
	list.Foreach(func(t *ast.Term) { path = append(path, t) })
	return path
}

// names returns the names of a path that has nothing else.
func (p steps) names() ([]string, bool) {
	names := make([]string, 0, len(p))
	for _, t := range p {
		s, ok := t.Value.(ast.String)
		if !ok {
			return nil, false
		}
		names = append(names, string(s))
	}
	return names, true
}

// String writes a path as a reference into the input.
func (p steps) String() string {
	return append(ast.Ref{ast.InputRootDocument}, p...).String()
}
