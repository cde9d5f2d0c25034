package opa

import (
	"math/bits"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// kinds is a set of kinds of value.
type kinds uint8

const (
	nullKind kinds = 1 << iota
	booleanKind
	numberKind
	stringKind
	arrayKind
	objectKind
	setKind
	anyKind = 1<<iota - 1
)

// String names the kinds in a message.
func (k kinds) String() string {
	if k == anyKind {
		return "a value"
	}
	var names []string
	for i, name := range []string{"null", "a boolean", "a number", "a string", "an array", "an object", "a set"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if bits.OnesCount8(uint8(k&^nullKind)) == len(names)-1 && k&nullKind != 0 {
		names = append(names[1:], "null") // null is what is special
	}
	return strings.Join(names, " or ")
}

// kinds returns the kinds of value that the schema allows.
func (s schema) kinds() kinds {
	var all kinds
	switch declared := s.resolve().node["type"].(type) {
	case string:
		all = kindNamed(declared)
	case []any:
		for _, name := range declared {
			text, _ := name.(string)
			all |= kindNamed(text)
		}
	}
	if all == 0 {
		return anyKind
	}
	return all
}

// kindNamed returns the kind that JSON Schema calls by a name.
func kindNamed(name string) kinds {
	switch name {
	case "null":
		return nullKind
	case "boolean":
		return booleanKind
	case "number", "integer":
		return numberKind
	case "string":
		return stringKind
	case "array":
		return arrayKind
	case "object":
		return objectKind
	}
	return anyKind
}

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
	if v, ok := t.Value.(ast.Var); ok && l.locals[v] != nil && depth < maxDepth {
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
