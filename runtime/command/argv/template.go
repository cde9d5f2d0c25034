package argv

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// A Template makes the arguments of a command, the name of its program first.
type Template []Element

// An Element is a part of a template. Exactly one of Literal, Text, Arg, Each and When is set.
type Element struct {
	Literal    string // one argument
	Terminator bool   // of Literal: the program takes what follows for operands

	Text []Part // one argument, or none when a member is absent

	Arg  string // a member: one argument, or none when it is absent
	Each string // a member that is an array: an argument for each of its elements

	When string // a boolean member that adds Add, where it is true
	Add  string
}

// A Part is literal text, or the value of a member.
type Part struct{ Literal, Member string }

// ParseText reads a literal with members in braces, such as --max-count={limit}. {{ and }} are
// braces. A text without members is one literal part.
func ParseText(text string) (parts []Part, err error) {
	literal := ""
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			literal += rest
			break
		}
		literal += rest[:i]
		if strings.HasPrefix(rest[i:], "{{") || strings.HasPrefix(rest[i:], "}}") {
			literal, rest = literal+rest[i:i+1], rest[i+2:]
			continue
		}
		member, after, closed := strings.Cut(rest[i+1:], "}")
		if rest[i] == '}' || !closed || member == "" || strings.ContainsAny(member, "{ ") {
			return nil, fmt.Errorf("argv: %q has a brace that names no member: write {member}, or {{ and }} for braces", text)
		}
		if literal != "" {
			parts, literal = append(parts, Part{Literal: literal}), ""
		}
		parts, rest = append(parts, Part{Member: member}), after
	}
	if literal != "" || parts == nil {
		parts = append(parts, Part{Literal: literal})
	}
	return parts, nil
}

// Expand returns the arguments for the members of an input. A member that is absent, or null,
// gives no argument. Members are strings, int64, bool, and arrays of them as []any.
func (t Template) Expand(members map[string]any) (argv []string, err error) {
	for i, e := range t {
		var add []string
		switch {
		case e.Text != nil:
			add, err = e.text(members)
		case e.Arg != "":
			add, err = one(e.Arg, -1, members[e.Arg])
		case e.Each != "":
			add, err = each(e.Each, members[e.Each])
		case e.When != "":
			add, err = e.when(members[e.When])
		default:
			add = []string{e.Literal}
		}
		if err != nil {
			return nil, fmt.Errorf("argv: element %d: %w", i, err)
		}
		argv = append(argv, add...)
	}
	return argv, nil
}

func (e Element) text(members map[string]any) ([]string, error) {
	var b strings.Builder
	for _, p := range e.Text {
		if p.Member == "" {
			b.WriteString(p.Literal)
			continue
		}
		value, err := one(p.Member, -1, members[p.Member])
		if err != nil || value == nil {
			return nil, err
		}
		b.WriteString(value[0])
	}
	return []string{b.String()}, nil
}

func (e Element) when(value any) ([]string, error) {
	switch on := value.(type) {
	case nil:
		return nil, nil
	case bool:
		if on {
			return []string{e.Add}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%s is no boolean", e.When)
}

// one returns the argument of a value; nil for one that is absent.
func one(member string, index int, value any) ([]string, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.ContainsRune(v, 0) {
			return nil, &runtime.ArgumentError{Member: member, Index: index}
		}
		return []string{v}, nil
	case int64:
		return []string{strconv.FormatInt(v, 10)}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	}
	return nil, fmt.Errorf("a %T is no argument: only strings, integers, booleans and arrays of them are", value)
}

// each makes an argument of each element: what stands in it does not split it (SEMANTICS 7.5.1).
func each(member string, value any) (argv []string, err error) {
	if value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("a %T is no array", value)
	}
	for i, v := range list {
		add, err := one(member, i, v)
		if err != nil {
			return nil, err
		}
		if add == nil {
			return nil, errors.New("an array holds null, which is no argument")
		}
		argv = append(argv, add...)
	}
	return argv, nil
}
