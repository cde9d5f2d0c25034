package lint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

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

// path returns what a term refers to in the input, also through locals and aliases.
func (l *inputLint) path(t *ast.Term) (steps, bool) { return l.pathOf(t, 0) }

func (l *inputLint) pathOf(t *ast.Term, depth int) (steps, bool) {
	ref, isRef := t.Value.(ast.Ref)
	if v, isVar := t.Value.(ast.Var); isVar {
		ref, isRef = ast.Ref{ast.NewTerm(v)}, true
	}
	if !isRef || len(ref) == 0 || depth > maxNested {
		return nil, false
	}
	head, ok := ref[0].Value.(ast.Var)
	if !ok {
		return nil, false
	}
	base, ok := l.aliases[head]
	if local := l.locals[head]; !ok && local != nil {
		base, ok = l.pathOf(local, depth+1)
	}
	return append(slices.Clone(base), ref[1:]...), ok
}

// follow returns where a path leads. At a part that no schema allows it stops
// and returns the index of the part, else -1.
func (l *inputLint) follow(p steps) (at place, before place, wrong int) {
	if l.root.Node == nil {
		return nil, nil, -1
	}
	at = place{l.root}
	for i, t := range p {
		next, closed := at.step(t)
		if closed {
			return nil, at, i
		}
		if name, ok := t.Value.(ast.String); i == 0 && ok && name == "args" {
			next = l.args
		}
		at = next
	}
	return at, nil, -1
}
