package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// kindsOf returns the kinds of value that a term can have.
func (l *inputLint) kindsOf(t *ast.Term) schema.Kinds { return l.kindsAt(t, 0) }

func (l *inputLint) kindsAt(t *ast.Term, depth int) schema.Kinds {
	if call, ok := t.Value.(ast.Call); ok {
		return values.KindsOfResult(call[0].String())
	}
	if kinds := values.KindsOf(t.Value); kinds != schema.AnyKind {
		return kinds
	}
	if p, ok := l.path(t); ok {
		at, _, _ := l.follow(p)
		return at.Kinds()
	}
	if v, ok := t.Value.(ast.Var); ok && l.locals[v] != nil && depth < values.MaxNested {
		return l.kindsAt(l.locals[v], depth+1)
	}
	return schema.AnyKind
}
