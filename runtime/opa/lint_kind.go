package opa

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// kindsOf returns the kinds of value that a term can have.
func (l *inputLint) kindsOf(t *ast.Term) kinds { return l.kindsAt(t, 0) }

func (l *inputLint) kindsAt(t *ast.Term, depth int) kinds {
	switch v := t.Value.(type) {
	case ast.Null:
		return nullKind
	case ast.Boolean:
		return booleanKind
	case ast.Number:
		return numberKind
	case ast.String:
		return stringKind
	case *ast.Array, *ast.ArrayComprehension:
		return arrayKind
	case ast.Object, *ast.ObjectComprehension:
		return objectKind
	case ast.Set, *ast.SetComprehension:
		return setKind
	case ast.Call:
		return kindsOfCall(v)
	}
	if p, ok := l.path(t); ok {
		at, _, _ := l.follow(p)
		return at.kinds()
	}
	if v, ok := t.Value.(ast.Var); ok && l.locals[v] != nil && depth < maxNested {
		return l.kindsAt(l.locals[v], depth+1)
	}
	return anyKind
}

// kindsOfCall returns the kinds of value that a built-in function returns.
func kindsOfCall(call ast.Call) kinds {
	if b := builtin(call[0].String()); b != nil && b.Decl.Result() != nil {
		return kindsOfType(b.Decl.Result())
	}
	return anyKind
}

// kindsOfType translates a type of OPA's checker.
func kindsOfType(t types.Type) kinds {
	switch t := t.(type) {
	case types.Null:
		return nullKind
	case types.Boolean:
		return booleanKind
	case types.Number:
		return numberKind
	case types.String:
		return stringKind
	case *types.Array:
		return arrayKind
	case *types.Object:
		return objectKind
	case *types.Set:
		return setKind
	case types.Any:
		var all kinds
		for _, alternative := range t {
			all |= kindsOfType(alternative)
		}
		if all != 0 {
			return all
		}
	case *types.NamedType:
		return kindsOfType(t.Type)
	}
	return anyKind
}
