package runtimetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ambit-tools/ambit/runtime"
)

// A CallerOpener makes an application of its own, in a state that is the same each time: do makes
// a call of it, and state returns what its tools may have changed.
type CallerOpener func(t *testing.T) (do func(runtime.Call) runtime.Outcome, state func() []byte)

// TestDeterministic makes calls, recorded or given ones, in two applications, one after the other,
// and holds tools that are declared deterministic to it: equal input and state give equal output
// and equal effects. Every call has to run.
func TestDeterministic(t *testing.T, open CallerOpener, calls ...runtime.Call) {
	t.Helper()
	for _, c := range calls {
		t.Run(fmt.Sprint(c.Tool, " ", c.ID), func(t *testing.T) {
			if err := runsTwice(t, open, c); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// runsTwice says what differs of a call that is made twice.
func runsTwice(t *testing.T, open CallerOpener, c runtime.Call) error {
	var outs [2]runtime.Outcome
	var states [2][]byte
	for i := range outs {
		do, state := open(t)
		outs[i] = do(c)
		states[i] = state()
	}
	first, second := &outs[0], &outs[1]
	switch {
	case first.Kind != runtime.Completed && first.Kind != runtime.Failed:
		return fmt.Errorf("the call did not run: it is %s %s: %s", first.Kind, first.Reason, first.Message)
	case first.Kind != second.Kind:
		return fmt.Errorf("it is %s, and then %s", first.Kind, second.Kind)
	case !bytes.Equal(first.Output, second.Output):
		return fmt.Errorf("its output is %s, and then %s", first.Output, second.Output)
	case (first.Artifact == nil) != (second.Artifact == nil) || first.Artifact != nil && first.Artifact.SHA256 != second.Artifact.SHA256:
		return fmt.Errorf("its output is stored aside, and another one the second time")
	case !bytes.Equal(states[0], states[1]):
		return fmt.Errorf("it leaves %.300q, and then %.300q", states[0], states[1])
	}
	return nil
}
