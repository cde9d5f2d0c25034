package wire

import "strings"

// Types is a set of the types of JSON Schema.
type Types uint8

// The types of JSON Schema. A number without a fraction is an integer.
const (
	TypeNull Types = 1 << iota
	TypeBoolean
	TypeInteger
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

// typeNames are the names in JSON Schema, in the order of the constants.
var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

// ParseType returns the type with a name; ok is false when there is none.
func ParseType(name string) (t Types, ok bool) {
	for i, s := range typeNames {
		if s == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// String lists the types as a violation names them.
func (t Types) String() string {
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 && (name != "integer" || t&TypeNumber == 0) {
			names = append(names, name)
		}
	}
	if len(names) > 1 && names[0] == "null" { // null is said last, as for a typed value
		names = append(names[1:], "null")
	}
	return strings.Join(names, " or ")
}
