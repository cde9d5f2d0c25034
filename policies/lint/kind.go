package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// kindsOf returns the kinds of value that a term can have.
func (l *inputLint) kindsOf(t *ast.Term) schema.Kinds { return l.kindsAt(t, 0) }

func (l *inputLint) kindsAt(t *ast.Term, depth int) schema.Kinds {
	switch v := t.Value.(type) {
	case ast.Null:
		return schema.NullKind
	case ast.Boolean:
		return schema.BooleanKind
	case ast.Number:
		return schema.NumberKind
	case ast.String:
		return schema.StringKind
	case *ast.Array, *ast.ArrayComprehension:
		return schema.ArrayKind
	case ast.Object, *ast.ObjectComprehension:
		return schema.ObjectKind
	case ast.Set, *ast.SetComprehension:
		return schema.SetKind
	case ast.Call:
		return kindsOfCall(v)
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

// kindsOfCall returns the kinds of value that a built-in function returns.
func kindsOfCall(call ast.Call) schema.Kinds {
	if b := functions.Builtin(call[0].String()); b != nil && b.Decl.Result() != nil {
		return kindsOfType(b.Decl.Result())
	}
	return schema.AnyKind
}

// kindsOfType translates a type of OPA's checker.
func kindsOfType(t types.Type) schema.Kinds {
	switch t := t.(type) {
	case types.Null:
		return schema.NullKind
	case types.Boolean:
		return schema.BooleanKind
	case types.Number:
		return schema.NumberKind
	case types.String:
		return schema.StringKind
	case *types.Array:
		return schema.ArrayKind
	case *types.Object:
		return schema.ObjectKind
	case *types.Set:
		return schema.SetKind
	case types.Any:
		var all schema.Kinds
		for _, alternative := range t {
			all |= kindsOfType(alternative)
		}
		if all != 0 {
			return all
		}
	case *types.NamedType:
		return kindsOfType(t.Type)
	}
	return schema.AnyKind
}
