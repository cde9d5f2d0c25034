package schema

import (
	"math/bits"
	"strings"
)

// Kinds is a set of kinds of value.
type Kinds uint8

// The kinds of value; AnyKind is all of them.
const (
	NullKind Kinds = 1 << iota
	BooleanKind
	NumberKind
	StringKind
	ArrayKind
	ObjectKind
	SetKind
	AnyKind = 1<<iota - 1
)

// String names the kinds in a message.
func (k Kinds) String() string {
	if k == AnyKind {
		return "a value"
	}
	var names []string
	for i, name := range []string{"null", "a boolean", "a number", "a string", "an array", "an object", "a set"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if bits.OnesCount8(uint8(k&^NullKind)) == len(names)-1 && k&NullKind != 0 {
		names = append(names[1:], "null") // null is what is special
	}
	return strings.Join(names, " or ")
}

// Kinds returns the kinds of value that the schema allows.
func (s Schema) Kinds() Kinds {
	var all Kinds
	switch declared := s.Resolve().Node["type"].(type) {
	case string:
		all = kindNamed(declared)
	case []any:
		for _, name := range declared {
			text, _ := name.(string)
			all |= kindNamed(text)
		}
	}
	if all == 0 {
		return AnyKind
	}
	return all
}

// kindNamed returns the kind that JSON Schema calls by a name.
func kindNamed(name string) Kinds {
	switch name {
	case "null":
		return NullKind
	case "boolean":
		return BooleanKind
	case "number", "integer":
		return NumberKind
	case "string":
		return StringKind
	case "array":
		return ArrayKind
	case "object":
		return ObjectKind
	}
	return AnyKind
}

// Elements returns the kinds of what an object holds, as far as its schema tells.
func (s Schema) Elements() Kinds {
	if m, ok := s.Element(); ok {
		return m.Kinds()
	}
	var all Kinds
	for _, name := range s.Names() {
		m, _, _, _ := s.Member(name)
		all |= m.Kinds()
	}
	if _, _, _, closed := s.Member(""); !closed {
		return AnyKind
	}
	return all
}
