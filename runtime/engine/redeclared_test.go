package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// counts is a codec whose input has changed: it accepts no input of file_read.
type counts struct{}

// Decode accepts no object.
func (counts) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return nil, []wire.Violation{{Keyword: "type"}}
}

// TestDeployKeepsRequests restarts with declarations in which the tool of a call that
// waits for consent has changed, or is gone. The request stays open. Under its original
// declaration an approval counts; under another declaration the call is denied.
// SEMANTICS 2.1.8, 5.8.1, 5.8.2
func TestDeployKeepsRequests(t *testing.T) {
	pinned := func(pin string) func(*runtime.Spec) { return func(s *runtime.Spec) { asking()(s); s.Pin = pin } }
	was := func() *runtime.Tool { return readTool(okRead, pinned("one")) }
	other := readTool(okRead, named("other"))
	for name, is := range map[string]func() *runtime.Tool{
		"gone":           func() *runtime.Tool { return other },
		"same arguments": func() *runtime.Tool { return readTool(okRead, pinned("two")) },
		"other arguments": func() *runtime.Tool {
			spec := *was().Spec()
			spec.Pin = "three"
			return runtime.NewDynamicTool(&spec, counts{}, func(context.Context, wire.Value) (wire.Value, error) {
				t.Error("the handler ran")
				return wire.Raw("{}"), nil
			})
		},
	} {
		for _, back := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				var j journal.Memory
				r := recovered(t, &j, was())
				out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
				require.Equal(t, runtime.Pending, out.Kind)
				require.NoError(t, r.exec.Shutdown(t.Context()))

				r = recovered(t, &j, is())
				open := r.exec.Requests()
				require.Len(t, open, 1)
				assert.Equal(t, out.RequestID, open[0].ID)
				require.NoError(t, r.exec.Flush(t.Context()))
				kinds, warned := kindsAt(t, &j), 0
				for _, e := range r.sink.Events() {
					if e.Kind == runtime.EventStale && e.RequestID == out.RequestID {
						assert.Contains(t, e.Err, `the declaration of tool "file_read" has changed`)
						assert.Equal(t, "tool.stale", kinds[e.Seq], "it has the position of its entry")
						warned++
					}
				}
				assert.Equal(t, 1, warned)
				if back {
					require.NoError(t, r.exec.Shutdown(t.Context()))
					r = recovered(t, &j, was())
					res := r.exec.Decide(t.Context(), out.RequestID, action.Answer{By: operator.Program("alice"), Approve: true})
					require.Equal(t, consent.Accepted, res.Kind)
					assert.Equal(t, runtime.Completed, res.Outcome.Kind, "%+v", res.Outcome)
					return
				}
				res := r.exec.Decide(t.Context(), out.RequestID, action.Answer{By: operator.Program("alice"), Approve: true, Edit: []byte(`{"path":"b"}`)})
				require.Equal(t, consent.Accepted, res.Kind)
				require.Equal(t, runtime.ReasonBindingMismatch, res.Outcome.Reason, "%+v", res.Outcome)
				assert.Equal(t, []string{"declaration"}, res.Outcome.Detail.Changed)
				require.NoError(t, r.exec.Shutdown(t.Context()))
				r = recovered(t, &j, was())
				assert.Equal(t, runtime.ReasonBindingMismatch, r.exec.Session(engine.SessionConfig{ID: "s"}).Await(t.Context(), "c1").Reason)
			})
		}
	}
}
