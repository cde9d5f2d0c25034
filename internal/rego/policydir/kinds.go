package policydir

import "github.com/open-policy-agent/opa/v1/ast"

// A ValueKind says what a member of a contract entry holds.
type ValueKind uint8

// The kinds of members.
const (
	KindAny     ValueKind = iota // any value
	KindString                   // a string
	KindStrings                  // an array or a set of strings
	KindInt                      // an integer
	KindObject                   // an object
)

// Holds says that a constant is of the kind.
func (k ValueKind) Holds(v ast.Value) bool {
	switch k {
	case KindString:
		_, ok := v.(ast.String)
		return ok
	case KindInt:
		n, ok := v.(ast.Number)
		if ok {
			_, ok = n.Int()
		}
		return ok
	case KindObject:
		_, ok := v.(ast.Object)
		return ok
	case KindStrings:
		return holdsStrings(v)
	}
	return true
}

// A Collection is an array or a set.
type Collection interface {
	Foreach(func(*ast.Term))
	Len() int
}

// holdsStrings says that a constant is an array or a set of strings, as far as its elements are constant.
func holdsStrings(v ast.Value) bool {
	l, ok := v.(Collection)
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
func (k ValueKind) String() string {
	return [...]string{"a value", "a string", "a list of strings", "an integer", "an object"}[k]
}

// Remedy says how a value is made one of the kind.
func (k ValueKind) Remedy() string {
	switch k {
	case KindString:
		return "make a string of it: sprintf(\"%v\", [...])"
	case KindStrings:
		return "make a list of it: [...]"
	case KindObject:
		return "make an object of it: {...}"
	}
	return ""
}
