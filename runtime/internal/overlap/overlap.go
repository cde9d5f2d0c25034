// Package overlap says what two calls have in common: texts and numbers in their arguments, and groups. An
// undo of the earlier call may reverse, or break, what the later one did with these.
package overlap

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A Subject is what a call is about: its arguments and groups.
type Subject struct {
	args   []argument
	groups []string
}

// An argument is a text or a number in the arguments of a call.
type argument struct {
	pointer, name string
	value         any // string or json.Number
}

// Of returns the subject of a call with some arguments, as JSON, of a tool in some groups. Arguments
// that are no JSON have nothing in common with others.
func Of(args []byte, groups []string) (s Subject) {
	s.groups = groups
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		s.collect(argument{value: v})
	}
	return s
}

var pointerTokens = strings.NewReplacer("~", "~0", "/", "~1")

// collect adds the texts and numbers in a value.
func (s *Subject) collect(in argument) {
	switch v := in.value.(type) {
	case map[string]any:
		for name, member := range v {
			s.collect(argument{in.pointer + "/" + pointerTokens.Replace(name), name, member})
		}
	case []any:
		for _, element := range v {
			s.collect(argument{in.pointer, in.name, element})
		}
	case json.Number:
		s.args = append(s.args, in)
	case string:
		if v != "" {
			s.args = append(s.args, in)
		}
	}
}

// Shared names what a later call shares with s: JSON Pointers of its texts that s has at any place and of
// its numbers that s has in a member of the same name, and "group NAME" of groups.
func (s *Subject) Shared(later Subject) (shares []string) {
	for _, l := range later.args {
		same := func(e argument) bool {
			_, text := e.value.(string)
			return e.value == l.value && (text || e.name == l.name)
		}
		if slices.ContainsFunc(s.args, same) {
			shares = append(shares, l.pointer)
		}
	}
	slices.Sort(shares)
	shares = slices.Compact(shares)
	for _, g := range later.groups {
		if slices.Contains(s.groups, g) {
			shares = append(shares, "group "+g)
		}
	}
	return shares
}
