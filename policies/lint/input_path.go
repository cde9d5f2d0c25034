package lint

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// path returns what a term refers to in the input, also through locals and aliases.
func (l *inputLint) path(t *ast.Term) (places.Path, bool) { return l.pathOf(t, 0) }

func (l *inputLint) pathOf(t *ast.Term, depth int) (places.Path, bool) {
	ref, isRef := t.Value.(ast.Ref)
	if v, isVar := t.Value.(ast.Var); isVar {
		ref, isRef = ast.Ref{ast.NewTerm(v)}, true
	}
	if !isRef || len(ref) == 0 || depth > values.MaxNested {
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
func (l *inputLint) follow(p places.Path) (at places.Input, before places.Input, wrong int) {
	if l.root.Node == nil {
		return nil, nil, -1
	}
	at = places.Input{l.root}
	for i, t := range p {
		next, closed := at.Step(t)
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
