// Package rewrites reads the rewrites of a policy.
package rewrites

import (
	"bytes"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
)

// Places parses the pointers of rewrites. It refuses rewrites that contradict each other: two values
// for one place, or a place inside another. The error names the rules that want them.
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
