package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A reloaded is a policy that can be replaced, as by a reload.
type reloaded struct{ now runtime.Decision }

func (p *reloaded) Decide(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return p.now, nil
}

// askedBy returns a decision of a revision that asks two questions and has an
// obligation.
func askedBy(revision string) runtime.Decision {
	return runtime.Decision{
		Effect: runtime.EffectAsk, Revision: revision,
		Asks: []runtime.Ask{
			{ID: "big", Message: "it is big", Approvers: []string{"alice", "bob"}, Quorum: 1, MaxCover: runtime.CoverTool, At: "a.rego:3"},
			{ID: "night", Message: "at night", At: "b.rego:9"},
		},
		Obligations: []runtime.Obligation{{Code: "notify", Args: wire.Raw(`{"to":"desk","n":1}`), At: "a.rego:20"}},
	}
}

// edits maps an edit of the policy to what happens to an approval given before it: the
// reason of the denial, and what has changed.
var edits = map[string]struct {
	edit    func(*runtime.Decision)
	reason  runtime.Reason
	changed []string
}{
	"of another tool": {func(*runtime.Decision) {}, 0, nil},
	"of lines": {func(d *runtime.Decision) {
		d.Asks[0].At, d.Asks[1].At, d.Obligations[0].At = "a.rego:4", "c.rego:1", "a.rego:21"
	}, 0, nil},
	"of the order":      {func(d *runtime.Decision) { d.Asks[0], d.Asks[1] = d.Asks[1], d.Asks[0] }, 0, nil},
	"of white space":    {func(d *runtime.Decision) { d.Obligations[0].Args = wire.Raw(`{ "n": 1.0, "to": "desk" }`) }, 0, nil},
	"of the timeout":    {func(d *runtime.Decision) { d.Asks[0].Timeout = time.Minute }, 0, nil},
	"no question":       {func(d *runtime.Decision) { d.Effect, d.Asks = runtime.EffectAllow, nil }, 0, nil},
	"refusal":           {func(d *runtime.Decision) { d.Denials = []runtime.Denial{{Code: "never"}} }, runtime.ReasonPolicyDenied, nil},
	"nothing allows it": {func(d *runtime.Decision) { *d = runtime.Decision{} }, runtime.ReasonPolicyDenied, nil},
	"id":                {func(d *runtime.Decision) { d.Asks[0].ID = "huge" }, runtime.ReasonBindingMismatch, []string{"question"}},
	"message":           {func(d *runtime.Decision) { d.Asks[1].Message = "in the dark" }, 0, nil},
	"bound values":      {func(d *runtime.Decision) { d.Asks[1].Bound = wire.Raw(`{"hour":3}`) }, runtime.ReasonBindingMismatch, []string{"question"}},
	"approvers":         {func(d *runtime.Decision) { d.Asks[0].Approvers = []string{"alice"} }, runtime.ReasonBindingMismatch, []string{"question"}},
	"quorum":            {func(d *runtime.Decision) { d.Asks[0].Quorum = 2 }, runtime.ReasonBindingMismatch, []string{"question"}},
	"cover":             {func(d *runtime.Decision) { d.Asks[0].MaxCover = runtime.CoverArgs }, runtime.ReasonBindingMismatch, []string{"question"}},
	"one rule less":     {func(d *runtime.Decision) { d.Asks = d.Asks[:1] }, runtime.ReasonBindingMismatch, []string{"question"}},
	"one rule more":     {func(d *runtime.Decision) { d.Asks = append(d.Asks, runtime.Ask{ID: "rare"}) }, runtime.ReasonBindingMismatch, []string{"question"}},
	"nobody is left":    {func(d *runtime.Decision) { d.Asks[1].Approvers = []string{"carol"} }, runtime.ReasonBindingMismatch, []string{"question"}},
	"obligation":        {func(d *runtime.Decision) { d.Obligations[0].Args = wire.Raw(`{"to":"boss","n":1}`) }, runtime.ReasonBindingMismatch, []string{"question"}},
	"no obligation":     {func(d *runtime.Decision) { d.Obligations = nil }, runtime.ReasonBindingMismatch, []string{"question"}},
	"arguments": {func(d *runtime.Decision) {
		d.Rewrites = []runtime.Rewrite{{Code: "less", Pointer: "/limit", Value: wire.Raw("1")}}
	}, runtime.ReasonBindingMismatch, []string{"args"}},
}

// TestApprovalOutlivesEditsThatDoNotConcernIt edits the policy while a request is
// pending, in the same process and across a restart.
// SEMANTICS 5.7.3, 5.7.7, 5.7.8
func TestApprovalOutlivesEditsThatDoNotConcernIt(t *testing.T) {
	for name, c := range edits {
		for _, restart := range []bool{false, true} {
			t.Run(map[bool]string{false: name, true: name + ", restart"}[restart], func(t *testing.T) {
				policy, j := &reloaded{askedBy("v1")}, new(journal.Memory)
				tool := readTool(okRead, asking(func(d *runtime.Consent) { d.Ask = runtime.ConsentAskPolicy }))
				r := recoveredWith(t, j, policy, tool)
				out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
				require.Equal(t, runtime.Pending, out.Kind, "%v", r.allFaults())
				if restart {
					r = recoveredWith(t, j, policy, tool)
				}
				policy.now = askedBy("v2")
				c.edit(&policy.now)
				res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
				require.Equal(t, runtime.ResolutionAccepted, res.Kind)
				require.NotNil(t, res.Outcome)
				assert.Equal(t, c.reason, res.Outcome.Reason, res.Outcome.Message)
				assert.Equal(t, c.changed, res.Outcome.Detail.Changed)
				if c.reason == runtime.ReasonNone {
					assert.Equal(t, runtime.Completed, res.Outcome.Kind)
					assert.Equal(t, runtime.StateCompleted, res.State)
				} else {
					assert.Equal(t, runtime.StateDenied, res.State)
				}
			})
		}
	}
}

// TestBothRevisionsAreRecorded: the journal has the revision of the policy that asked,
// and the revision of the policy that let the call run.
// SEMANTICS 5.7.1, 5.7.4
func TestBothRevisionsAreRecorded(t *testing.T) {
	policy := &reloaded{askedBy("v1")}
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)}, engine.WithPendingRequests())
	var used []consent.Event
	var asked string
	r.exec.NoteConsent(func(ev consent.Event) {
		if ev.Asked != nil {
			asked = ev.Asked.Revision
		}
		if ev.Kind == consent.EventUsed {
			used = append(used, ev)
		}
	})
	turn := r.run().Turn(engine.TurnConfig{})
	for _, revision := range []string{"v1", "v2"} {
		policy.now = askedBy("v1")
		out := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
		policy.now = askedBy(revision)
		res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
		require.Equal(t, runtime.Completed, res.Outcome.Kind)
		assert.Equal(t, revision, res.Outcome.Revision)
		assert.Equal(t, "v1", asked)
	}
	require.Len(t, used, 2)
	assert.Empty(t, used[0].Revision, "that of the request")
	assert.Equal(t, "v2", used[1].Revision)
}

// TestQuorumOutlivesAnEdit collects approvals before and after an edit.
func TestQuorumOutlivesAnEdit(t *testing.T) {
	for edit, reason := range map[string]runtime.Reason{"of lines": 0, "message": 0, "bound values": runtime.ReasonBindingMismatch} {
		policy := &reloaded{askedBy("v1")}
		policy.now.Asks[0].Quorum = 2
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)}, engine.WithPendingRequests())
		out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
		require.Equal(t, runtime.ResolutionRecorded, res.Kind)
		assert.Equal(t, 1, res.Missing)
		assert.Equal(t, runtime.Pending, res.Outcome.Kind)
		assert.Equal(t, runtime.StateValidated, res.State)
		policy.now = askedBy("v2")
		policy.now.Asks[0].Quorum = 2
		edits[edit].edit(&policy.now)
		res = r.exec.Decide(t.Context(), out.RequestID, yes("bob"))
		require.Equal(t, runtime.ResolutionAccepted, res.Kind)
		assert.Equal(t, reason, res.Outcome.Reason)
	}
}

// TestEditAfterAReload binds edited arguments to what the policy asks about them
// when they are edited.
// SEMANTICS 5.7.5
func TestEditAfterAReload(t *testing.T) {
	policy := &reloaded{askedBy("v1")}
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests())
	turn := r.run().Turn(engine.TurnConfig{})
	edited := func(quorum int) action.Resolution {
		policy.now = askedBy("v1")
		out := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
		policy.now = askedBy("v2")
		policy.now.Asks[0].Bound, policy.now.Asks[0].Quorum = wire.Raw(`{"size":2}`), quorum
		a := yes("alice")
		a.Edit = []byte(`{"path":"b.md","limit":7}`)
		return r.exec.Decide(t.Context(), out.RequestID, a)
	}
	res := edited(1)
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)

	res = edited(2)
	require.Equal(t, runtime.ResolutionRecorded, res.Kind)
	policy.now = askedBy("v3")
	policy.now.Asks[0].Quorum = 2
	bob := yes("bob")
	shown, _ := r.exec.Request(res.Outcome.RequestID)
	bob.Binding = shown.Binding
	res = r.exec.Decide(t.Context(), res.Outcome.RequestID, bob)
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, []string{"question"}, res.Outcome.Detail.Changed, "bob saw another one")
}

// TestDecideSaysThatTheCallGoesOn: an approver that does not wait for the outcome gets
// none.
// SEMANTICS 5.7.8
func TestDecideSaysThatTheCallGoesOn(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	r := newInbox(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(started)
		<-release
		return okRead(ctx, in)
	}, asking()))
	run := r.run()
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	res := r.exec.Decide(ctx, out.RequestID, yes("alice"))
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Nil(t, res.Outcome)
	assert.Equal(t, runtime.StateExecuting, res.State)
	close(release)
	res = r.exec.Decide(t.Context(), out.RequestID, yes("bob"))
	assert.Equal(t, consent.AlreadyResolved, res.Reason)
}
