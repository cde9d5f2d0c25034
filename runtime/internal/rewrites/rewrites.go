// Package rewrites reads and applies the rewrites of a policy.
package rewrites

import (
	"bytes"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Places parses the pointers of rewrites. It refuses rewrites that contradict each other: two values
// for one place, or a place inside another. The error names the rules that want them (SEMANTICS 3.5).
func Places(rewrites []runtime.Rewrite) ([]jsonedit.Pointer, error) {
	places := make([]jsonedit.Pointer, len(rewrites))
	for i := range rewrites {
		rw := &rewrites[i]
		p, err := jsonedit.Parse(rw.Pointer)
		if err != nil {
			return nil, fmt.Errorf("rewrite %s: %w", Name(rw), err)
		}
		places[i] = p
		for j := range rewrites[:i] {
			other := &rewrites[j]
			same := rw.Pointer == other.Pointer && bytes.Equal(rw.Value, other.Value)
			if !same && places[j].Overlaps(p) {
				return nil, fmt.Errorf("rewrites %s and %s contradict each other", Name(other), Name(rw))
			}
		}
	}
	return places, nil
}

// Apply applies rewrites to the text of arguments, and returns the new text. Members that are not
// rewritten keep their text, numbers to the last digit. defaults is the text of the arguments with
// their defaults, from which members that a pointer passes through are taken. A value may have limit bytes.
func Apply(text, defaults []byte, list []runtime.Rewrite, limit int) ([]byte, error) {
	places, err := Places(list)
	if err != nil {
		return nil, err
	}
	for i, rw := range list {
		if _, violations := wire.ParseRaw(rw.Value, wire.Limits{Size: limit}); violations != nil {
			return nil, fmt.Errorf("rewrite %s: its value is no JSON: %s", Name(&rw), wording.Violations(violations))
		}
		if text, err = places[i].Put(text, rw.Value, defaults); err != nil {
			return nil, fmt.Errorf("rewrite %s: %w", Name(&rw), err)
		}
	}
	return text, nil
}

// Name says what rw rewrites, and which rule wants it.
func Name(rw *runtime.Rewrite) string {
	return fmt.Sprintf("%q of %q %s", rw.Code, rw.Pointer, At(rw.At))
}

// At says where a rule stands.
func At(place string) string {
	if place == "" {
		return "(place unknown)"
	}
	return "(" + place + ")"
}
