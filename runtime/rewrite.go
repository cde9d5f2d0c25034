package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

var errFurther = errors.New("a rewrite must leave alone what is as it wants it")

// rewrite applies rewrites to arguments and decodes what comes out as
// strictly as any input. It returns the new arguments and their encoding.
func (c *call) rewrite(of wire.Value, rewrites []Rewrite) ([]byte, wire.Value, error) {
	places, err := placesOf(rewrites)
	if err != nil {
		return nil, nil, err
	}
	encoded, violations := wire.Append(nil, of)
	if violations != nil {
		return nil, nil, fmt.Errorf("the arguments cannot be encoded: %s", violationList(violations))
	}
	for i, rw := range rewrites {
		if _, violations := wire.ParseRaw(rw.Value, wire.Limits{}); violations != nil {
			return nil, nil, fmt.Errorf("rewrite %s: its value is no JSON: %s", rw.place(), violationList(violations))
		}
		if encoded, err = places[i].set(encoded, rw.Value); err != nil {
			return nil, nil, fmt.Errorf("rewrite %s: %w", rw.place(), err)
		}
	}
	args, violations := c.tool.Decode(encoded)
	if violations != nil {
		return nil, nil, fmt.Errorf("the rewritten arguments are invalid: %s", violationList(violations))
	}
	if encoded, violations = wire.Append(encoded[:0], args); violations != nil {
		return nil, nil, fmt.Errorf("the rewritten arguments cannot be encoded: %s", violationList(violations))
	}
	return encoded, args, nil
}

// placesOf parses the pointers of rewrites and refuses those that contradict
// each other: two values for one place, or a place inside another.
func placesOf(rewrites []Rewrite) ([]pointer, error) {
	places := make([]pointer, len(rewrites))
	for i, rw := range rewrites {
		p, err := parsePointer(rw.Pointer)
		if err != nil {
			return nil, fmt.Errorf("rewrite %s: %w", rw.place(), err)
		}
		places[i] = p
		for j, other := range rewrites[:i] {
			same := rw.Pointer == other.Pointer && bytes.Equal(rw.Value, other.Value)
			if !same && places[j].overlaps(p) {
				return nil, fmt.Errorf("rewrites %s and %s contradict each other", other.place(), rw.place())
			}
		}
	}
	return places, nil
}

// place says what rw rewrites, and which rule wants it.
func (rw *Rewrite) place() string {
	return fmt.Sprintf("%q of %q %s", rw.Code, rw.Pointer, at(rw.At))
}

// at says where a rule stands.
func at(place string) string {
	if place == "" {
		return "(place unknown)"
	}
	return "(" + place + ")"
}

// violationList joins violations to one text.
func violationList(violations []wire.Violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.String()
	}
	return strings.Join(texts, "; ")
}
