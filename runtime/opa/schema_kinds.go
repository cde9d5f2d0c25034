package opa

import (
	"math/bits"
	"strings"
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

// elements returns the kinds of what an object holds, as far as its schema tells.
func (s schema) elements() kinds {
	if m, ok := s.element(); ok {
		return m.kinds()
	}
	var all kinds
	for _, name := range s.names() {
		m, _, _, _ := s.member(name)
		all |= m.kinds()
	}
	if _, _, _, closed := s.member(""); !closed {
		return anyKind
	}
	return all
}
