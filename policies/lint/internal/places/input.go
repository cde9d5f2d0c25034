package places

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// Input is where a reference into the input can lead: to one schema in a
// tool's package, elsewhere to one for each tool that the call may be of. An
// empty place is one that no schema tells anything about.
type Input []schema.Schema

// Step follows one part of a reference. closed says that no schema allows it.
func (at Input) Step(t *ast.Term) (next Input, closed bool) {
	name, isName := t.Value.(ast.String)
	closed = len(at) > 0 && isName
	for _, s := range at {
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

// Names returns the members that one of the schemas declares.
func (at Input) Names() []string {
	var names []string
	for _, s := range at {
		names = append(names, s.Names()...)
	}
	return names
}

// Values returns the closed set of values at the place, or nil.
func (at Input) Values() []any {
	var all []any
	for _, s := range at {
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

// Kinds returns the kinds of value at the place.
func (at Input) Kinds() schema.Kinds {
	if len(at) == 0 {
		return schema.AnyKind
	}
	var all schema.Kinds
	for _, s := range at {
		all |= s.Kinds()
	}
	return all
}

// HasFormat says that texts at the place have one of some formats.
func (at Input) HasFormat(names ...string) bool {
	return slices.ContainsFunc(at, func(s schema.Schema) bool {
		format, _ := s.Resolve().Node["format"].(string)
		return slices.Contains(names, format)
	})
}

// Elements returns the kinds of what the objects at the place hold.
func (at Input) Elements() schema.Kinds {
	var all schema.Kinds
	for _, s := range at {
		all |= s.Elements()
	}
	return all
}

// Args returns where input.args leads for calls of tools.
func Args(b *policydir.Bundle, tools ...string) Input {
	var p Input
	for _, name := range tools {
		s, _, ok := b.Schemas[name].At([]string{"args"})
		if !ok {
			return nil
		}
		p = append(p, s)
	}
	return p
}

// A Path is what follows input in a reference.
type Path []*ast.Term

// PathOf returns the path that the second operand of object.get is: a key, or a
// list of them.
func PathOf(key *ast.Term) (path Path) {
	list, ok := key.Value.(*ast.Array)
	if !ok {
		return Path{key}
	}
	list.Foreach(func(t *ast.Term) { path = append(path, t) })
	return path
}

// Names returns the names of a path that has nothing else.
func (p Path) Names() ([]string, bool) {
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
func (p Path) String() string {
	return append(ast.Ref{ast.InputRootDocument}, p...).String()
}
