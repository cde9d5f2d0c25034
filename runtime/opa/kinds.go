package opa

import "github.com/open-policy-agent/opa/v1/ast"

// holds says that a constant is of the kind.
func (k valueKind) holds(v ast.Value) bool {
	switch k {
	case kindString:
		_, ok := v.(ast.String)
		return ok
	case kindInt:
		n, ok := v.(ast.Number)
		if ok {
			_, ok = n.Int()
		}
		return ok
	case kindObject:
		_, ok := v.(ast.Object)
		return ok
	case kindStrings:
		return holdsStrings(v)
	}
	return true
}

// A collection is an array or a set.
type collection interface {
	Foreach(func(*ast.Term))
	Len() int
}

// holdsStrings says that a constant is an array or a set of strings, as far as its elements are constant.
func holdsStrings(v ast.Value) bool {
	l, ok := v.(collection)
	if !ok {
		return false
	}
	l.Foreach(func(t *ast.Term) {
		if ast.IsScalar(t.Value) {
			_, isString := t.Value.(ast.String)
			ok = ok && isString
		}
	})
	return ok
}

// String names the kind in a message.
func (k valueKind) String() string {
	return [...]string{"a value", "a string", "a list of strings", "an integer", "an object"}[k]
}

// remedy says how a value is made one of the kind.
func (k valueKind) remedy() string {
	switch k {
	case kindString:
		return "make a string of it: sprintf(\"%v\", [...])"
	case kindStrings:
		return "make a list of it: [...]"
	case kindObject:
		return "make an object of it: {...}"
	}
	return ""
}

// A valueKind says what a member of a contract entry holds.
type valueKind uint8

const (
	kindAny valueKind = iota
	kindString
	kindStrings
	kindInt
	kindObject
)
