package runtimetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestRunsTwice: what differs between two calls is said, and two equal ones pass.
func TestRunsTwice(t *testing.T) {
	made := 0
	open := func(*testing.T) (func(runtime.Call) runtime.Outcome, func() []byte) {
		made++
		state, n := "begun", made
		return func(c runtime.Call) runtime.Outcome {
			out := runtime.Outcome{Kind: runtime.Completed, Output: []byte(`{"n":1}`)}
			switch c.Tool {
			case "output":
				out.Output = fmt.Appendf(nil, `{"n":%d}`, n)
			case "state":
				state = fmt.Sprint("after ", n)
			case "outcome":
				out.Kind = []runtime.OutcomeKind{runtime.Completed, runtime.Failed}[n%2]
			case "refused":
				out = runtime.Outcome{Kind: runtime.Denied, Reason: runtime.ReasonUnknownTool}
			case "artifact":
				out.Artifact = &runtime.StoredOutput{ArtifactRef: runtime.ArtifactRef{SHA256: fmt.Sprint(n)}}
			}
			return out
		}, func() []byte { return []byte(state) }
	}
	TestDeterministic(t, open, runtime.Call{ID: "1", Tool: "same"}, runtime.Call{ID: "2", Tool: "same"})
	assert.Equal(t, 4, made)
	for tool, want := range map[string]string{
		"output": "its output is", "state": "it leaves", "outcome": "and then", "refused": "the call did not run: it is denied unknown_tool", "artifact": "stored aside",
	} {
		err := runsTwice(t, open, runtime.Call{Tool: tool})
		require.Error(t, err, tool)
		assert.ErrorContains(t, err, want)
	}
}
