package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// capped returns a policy that lowers a limit above most to most, and cannot judge a limit of 9000.
func capped(most int64) runtime.PolicyFunc {
	return func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		d := runtime.Decision{Effect: runtime.EffectAllow}
		switch limit := in.Args.(*readInput).Limit; {
		case limit == 9000:
			return d, errors.New("the policy has no answer")
		case limit > most:
			d.Rewrites = []runtime.Rewrite{{Code: "cap", Pointer: "/limit", Value: wire.Raw(fmt.Sprint(most))}}
		}
		return d, nil
	}
}

// TestRewrittenEdit: what the policy makes of an approver's edit is asked about and approved by the next answer, by the
// inbox and after a restart too.
//
// SEMANTICS 3.7.2, 5.2.7
func TestRewrittenEdit(t *testing.T) {
	var j journal.Memory
	var ran []string
	tool := func() *runtime.Tool {
		return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			ran = append(ran, fmt.Sprint(in.Limit))
			return okRead(ctx, in)
		}, asking())
	}
	r := recoveredWith(t, &j, capped(100), tool())
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a.md","limit":50}`))
	require.Equal(t, runtime.Pending, out.Kind)

	a := yes("alice")
	a.Edit = []byte(`{"path":"a.md","limit":500}`)
	would := r.exec.Probe(t.Context(), out.RequestID, a)
	assert.True(t, would.Rewritten)
	assert.JSONEq(t, `{"path":"a.md","limit":100}`, string(would.Shown))

	res := r.imported(inbox.Command{Nonce: "n1", Kind: inbox.CommandApprove, Request: out.RequestID, Edit: json.RawMessage(a.Edit)})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "recorded", Call: "c1", Missing: 1, Rewritten: true}, res)
	assert.Empty(t, ran)
	require.NoError(t, r.exec.Shutdown(t.Context()))

	r = recoveredWith(t, &j, capped(100), tool())
	asked, _ := r.exec.Request(out.RequestID)
	assert.JSONEq(t, `{"path":"a.md","limit":100}`, string(asked.Shown))
	assert.Empty(t, asked.Votes)
	res = r.imported(inbox.Command{Nonce: "n2", Kind: inbox.CommandApprove, Request: out.RequestID})
	assert.Equal(t, "changed", res.Reason, "an answer that names no binding has seen what was asked")
	again := r.exec.Decide(t.Context(), out.RequestID, a)
	assert.Equal(t, consent.TermsChanged, again.Reason)
	a.Binding = asked.Binding
	again = r.exec.Decide(t.Context(), out.RequestID, a)
	assert.Equal(t, []any{runtime.ResolutionRecorded, 1, true}, []any{again.Kind, again.Missing, again.Rewritten})

	res = r.imported(inbox.Command{Nonce: "n3", Kind: inbox.CommandApprove, Request: out.RequestID, Binding: asked.Binding})
	assert.Equal(t, "accepted", res.Result)
	require.Equal(t, runtime.Completed, r.sessionAgain().Await(t.Context(), "c1").Kind)
	assert.Equal(t, []string{"100"}, ran)
	assert.Equal(t, map[string]string{"args": `{"path":"a.md","limit":50}`, "final": `{"path":"a.md","limit":100}`}, recordedArguments(t, &j, "c1"))
	assert.Empty(t, r.allFaults())
}

// TestEditThatThePolicyCannotJudge leaves the request as it was, and operators are told why.
//
// SEMANTICS 5.2.5
func TestEditThatThePolicyCannotJudge(t *testing.T) {
	r := recoveredWith(t, new(journal.Memory), capped(10000), readTool(okRead, asking()))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	a := yes("alice")
	a.Edit = []byte(`{"path":"a.md","limit":9000}`)
	assert.Equal(t, "the policy could not judge the edited arguments", r.exec.Probe(t.Context(), out.RequestID, a).Invalid)
	res := r.exec.Decide(t.Context(), out.RequestID, a)
	assert.Equal(t, consent.InvalidInput, res.Reason)
	faults := r.allFaults()
	require.Len(t, faults, 1)
	assert.Contains(t, faults[0].Text, "the policy has no answer")
	assert.Equal(t, runtime.ReasonPolicyError, faults[0].Reason)

	done, cancel := context.WithCancel(t.Context())
	cancel()
	a.Edit = []byte(`{"path":"b.md","limit":3}`)
	a.NoWait = true
	assert.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(done, out.RequestID, a).Kind, "an answer counts though its caller is gone")
	assert.Equal(t, runtime.Completed, r.sessionAgain().Await(t.Context(), "c1").Kind)
}
