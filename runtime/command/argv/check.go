package argv

import (
	"errors"
	"fmt"
	"slices"
)

// A Type is what a member is.
type Type uint8

// The types. Other is what no argument can be made of.
const (
	Other Type = iota
	String
	Integer
	Boolean
	Array
)

// A Schema is what a declaration says of a member, as far as a template asks.
type Schema struct {
	Type      Type
	Items     *Schema // of Array
	Enum      []string
	Minimum   *int64
	Pattern   string // as of JSON Schema: a value matches where a part of it does
	MinLength int
	Sensitive bool
}

// A Problem is what is wrong with an element of a template.
type Problem struct {
	Element int // its index
	Member  string
	Err     error
}

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("argv: element %d: %v", p.Element, p.Err) }

// Unwrap returns the error.
func (p *Problem) Unwrap() error { return p.Err }

// ErrOption is the error of a value that the program could take for an option.
var ErrOption = errors.New("could be taken for an option")

var errSensitive = errors.New("is x-sensitive, and other processes can read arguments")

// Hint says how to mend a problem.
func (p *Problem) Hint() string {
	switch {
	case errors.Is(p.Err, ErrOption):
		return optionRemedy
	case errors.Is(p.Err, errSensitive):
		return "take it as stdin"
	}
	return "name a member of the input that fits there"
}

const optionRemedy = "put {literal: --, terminator: true} before it, if the program takes what follows for operands; or give it a schema that cannot begin with - and cannot be empty: enum, minimum: 0, or a pattern such as ^[A-Za-z0-9]"

// Check finds what is wrong with a template, given the schemas of the members that it may name.
func (t Template) Check(members map[string]Schema) (problems []*Problem) {
	terminated := false
	for i, e := range t {
		add := func(member string, err error) {
			if err != nil {
				problems = append(problems, &Problem{i, member, err})
			}
		}
		if i == 0 && e.Literal == "" {
			add("", errors.New("the program has to be a literal"))
		}
		add("", e.shape())
		for k, p := range e.Text {
			if p.Member != "" {
				add(p.Member, use(members, p.Member, false, !terminated && k == 0))
			}
		}
		if e.Arg != "" {
			add(e.Arg, use(members, e.Arg, false, !terminated))
		}
		if e.Each != "" {
			add(e.Each, use(members, e.Each, true, !terminated))
		}
		if s, known := members[e.When]; e.When != "" && (!known || s.Type != Boolean) {
			add(e.When, fmt.Errorf("%s is no boolean member of the input", e.When))
		}
		terminated = terminated || e.Terminator
	}
	return problems
}

// shape says whether an element is one of those that there are.
func (e Element) shape() error {
	set := 0
	for _, is := range []bool{e.Literal != "", e.Text != nil, e.Arg != "", e.Each != "", e.When != ""} {
		if is {
			set++
		}
	}
	switch {
	case set > 1:
		return errors.New("is more than one of a literal, arg, each and when")
	case e.Terminator && e.Literal == "":
		return errors.New("terminator belongs to a literal")
	case (e.When == "") != (e.Add == ""):
		return errors.New("when and add belong together")
	}
	return nil
}

// use says whether a member may be where it is. begins is whether its value begins an argument
// that the program may take for an option.
func use(members map[string]Schema, name string, array, begins bool) error {
	s, known := members[name]
	if !known {
		return fmt.Errorf("%s is no member of the input", name)
	}
	if s.Sensitive {
		return fmt.Errorf("%s %w", name, errSensitive)
	}
	if array != (s.Type == Array) {
		return fmt.Errorf("%s: `each` takes an array, and `arg` and {member} what is none", name)
	}
	if array {
		if s.Items == nil {
			return fmt.Errorf("%s has no items", name)
		}
		s = *s.Items
	}
	if s.Type == Other || s.Type == Array {
		return fmt.Errorf("%s: an argument is a string, an integer or a boolean", name)
	}
	if begins && s.MayBeOption() {
		return fmt.Errorf("%s %w", name, ErrOption)
	}
	return nil
}

// MayBeOption says whether a value of a schema can begin with a dash, or be empty. An empty
// argument lets the next one take its place.
func (s Schema) MayBeOption() bool {
	switch s.Type {
	case Boolean:
		return false
	case Integer:
		return s.Minimum == nil || *s.Minimum < 0
	case String:
		if s.Enum != nil {
			return slices.ContainsFunc(s.Enum, func(v string) bool { return v == "" || v[0] == '-' })
		}
		return s.Pattern == "" || mayBegin(s.Pattern, s.MinLength > 0)
	}
	return true
}
