package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var errFurther = errors.New("a rewrite must leave alone what is as it wants it")

// rewrite applies rewrites to the text of arguments and decodes what comes out as
// strictly as any input. What is not rewritten keeps its text, numbers to the last
// digit, and what the text leaves out is still left to the defaults.
func (c *call) rewrite(text []byte, of wire.Value, rewrites []Rewrite) ([]byte, wire.Value, error) {
	places, err := placesOf(rewrites)
	if err != nil {
		return nil, nil, err
	}
	defaults := encoded(of)
	for i, rw := range rewrites {
		if _, violations := wire.ParseRaw(rw.Value, c.tool.spec.inputLimits()); violations != nil {
			return nil, nil, fmt.Errorf("rewrite %s: its value is no JSON: %s", rw.place(), violationList(violations))
		}
		if text, err = places[i].Put(text, rw.Value, defaults); err != nil {
			return nil, nil, fmt.Errorf("rewrite %s: %w", rw.place(), err)
		}
	}
	args, violations := c.tool.Decode(text)
	if violations != nil {
		return nil, nil, fmt.Errorf("the rewritten arguments are invalid: %s", violationList(violations))
	}
	return text, args, nil
}

// same reports whether two values are equal.
func same(a, b wire.Value) bool {
	x, err := wire.AppendCanonical(nil, a)
	if err != nil {
		return false
	}
	y, err := wire.AppendCanonical(nil, b)
	return err == nil && bytes.Equal(x, y)
}

// encoded returns a value as JSON, nil when there is none. It does not check the
// rules: a value that was decoded may have more members than its schema allows,
// those that come from defaults.
func encoded(v wire.Value) []byte {
	if v == nil {
		return nil
	}
	b, _ := wire.Append(nil, walk.Unruled{Of: v})
	return b
}

// CheckRewrites reports a rewrite whose pointer is none, and rewrites that
// contradict each other. It says which rules want them.
func CheckRewrites(rewrites []Rewrite) error {
	_, err := placesOf(rewrites)
	return err
}

// placesOf parses the pointers of rewrites and refuses those that contradict
// each other: two values for one place, or a place inside another.
func placesOf(rewrites []Rewrite) ([]jsonedit.Pointer, error) {
	places := make([]jsonedit.Pointer, len(rewrites))
	for i, rw := range rewrites {
		p, err := jsonedit.Parse(rw.Pointer)
		if err != nil {
			return nil, fmt.Errorf("rewrite %s: %w", rw.place(), err)
		}
		places[i] = p
		for j, other := range rewrites[:i] {
			same := rw.Pointer == other.Pointer && bytes.Equal(rw.Value, other.Value)
			if !same && places[j].Overlaps(p) {
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
