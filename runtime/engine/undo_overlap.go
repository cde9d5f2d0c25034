package engine

// An overlap is what two calls have in common: texts and numbers in their arguments, and groups. An
// undo of the earlier call may reverse, or break, what the later one did with these.

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// An overlapSubject is what a call is about: its arguments and groups.
type overlapSubject struct {
	args   []overlapArgument
	groups []string
}

// An overlapArgument is a text or a number in the arguments of a call.
type overlapArgument struct {
	pointer, name string
	value         any // string or json.Number
}

// overlapSubjectOf returns the subject of a call with some arguments, as JSON, of a tool in some groups. Arguments
// that are no JSON have nothing in common with others.
func overlapSubjectOf(args []byte, groups []string) (s overlapSubject) {
	s.groups = groups
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		s.collect(overlapArgument{value: v})
	}
	return s
}

var pointerTokens = strings.NewReplacer("~", "~0", "/", "~1")

// collect adds the texts and numbers in a value.
func (s *overlapSubject) collect(in overlapArgument) {
	switch v := in.value.(type) {
	case map[string]any:
		for name, member := range v {
			s.collect(overlapArgument{in.pointer + "/" + pointerTokens.Replace(name), name, member})
		}
	case []any:
		for _, element := range v {
			s.collect(overlapArgument{in.pointer, in.name, element})
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
func (s *overlapSubject) Shared(later overlapSubject) (shares []string) {
	for _, l := range later.args {
		same := func(e overlapArgument) bool {
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
