package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// counts is a codec whose input has changed: it accepts no input of file_read.
type counts struct{}

// Decode accepts no object.
func (counts) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return nil, []wire.Violation{{Keyword: "type"}}
}

// TestDeployKeepsRequests restarts with declarations in which the tool of a call that
// waits for consent has changed, or is gone. The request stays open. Under another declaration an
// approval is rejected and uses nothing, so that it counts once the original one is back.
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
		for _, unanswered := range []bool{true, false} {
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
				if !unanswered {
					res := r.exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("alice"), Approve: true, Edit: []byte(`{"path":"b"}`)})
					require.Equal(t, runtime.ResolutionRejected, res.Kind)
					require.Equal(t, consent.TermsChanged, res.Reason)
					assert.Equal(t, runtime.Pending, res.Outcome.Kind)
				}
				require.NoError(t, r.exec.Shutdown(t.Context()))
				r = recovered(t, &j, was())
				res := r.exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
				require.Equal(t, runtime.ResolutionAccepted, res.Kind)
				assert.Equal(t, runtime.Completed, res.Outcome.Kind, "%+v", res.Outcome)
			})
		}
	}
}

// TestApprovedBeforeTheDeclarationChanged: a call that was approved when the process ended, and whose tool has another declaration
// at the next start, is not the one that was approved.
//
// SEMANTICS 5.8.2
func TestApprovedBeforeTheDeclarationChanged(t *testing.T) {
	var j, cut journal.Memory
	tool := func(pin string) *runtime.Tool {
		return readTool(okRead, asking(), func(s *runtime.Spec) { s.Pin = pin })
	}
	r := recovered(t, &j, tool("one"))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, yes("alice")).Outcome.Kind)
	require.NoError(t, r.exec.Shutdown(t.Context()))
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for i, e := range entries {
		require.NoError(t, cut.Append(t.Context(), entries[i:i+1]))
		if e.Kind == runtime.EventApprovalDecided.String() {
			break
		}
	}
	r = recovered(t, &cut, tool("two"))
	s, known := r.exec.FindSession("s")
	require.True(t, known)
	ended := s.Await(t.Context(), "c1")
	assert.Equal(t, runtime.ReasonBindingMismatch, ended.Reason, "%+v", ended)
	assert.Equal(t, []string{"declaration"}, ended.Detail.Changed)
	require.NoError(t, r.exec.Shutdown(t.Context()))
}
