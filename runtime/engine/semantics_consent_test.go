package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// SEMANTICS 5.4.6
func TestReminderComesBeforeExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newInbox(t, readTool(okRead, asking()))
		r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		time.Sleep(time.Hour)
		synctest.Wait()
		kinds := r.kinds("c1")
		assert.Equal(t, []string{"approval.requested", "approval.expiring", "tool.denied"}, kinds[len(kinds)-3:])
	})
}

// SEMANTICS 5.9.1, 5.9.2
func TestSensitiveArgumentsAreShownWhereTheDeclarationRevealsThem(t *testing.T) {
	for _, reveal := range [][]string{nil, {"password"}} {
		spec := &runtime.Spec{Name: "login", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways, Reveal: reveal}}
		tool := runtime.NewTool(spec, &loginInputRule, func(context.Context, *loginInput) (*readOutput, error) { return &readOutput{}, nil })
		r := newInbox(t, tool)
		out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "login", `{"user":"u","password":"hunter22"}`))
		q, _ := r.exec.Request(out.RequestID)
		assert.NotContains(t, string(q.Args), "hunter22", "what is stored")
		if reveal == nil {
			assert.NotContains(t, string(q.Shown), "hunter22")
		} else {
			assert.Contains(t, string(q.Shown), "hunter22")
		}
	}
}

// TestTheMessageOfTheDeclarationIsRecorded: an approver in another process has the
// records, and no declaration.
func TestTheMessageOfTheDeclarationIsRecorded(t *testing.T) {
	policy := decide(runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "big", Message: "it is big"}}})
	tool := readTool(okRead, asking(func(c *runtime.Consent) { c.Ask, c.Message = runtime.ConsentAskPolicy, "Read {path}" }))
	r := newRigWith(t, policy, []*runtime.Tool{tool}, engine.WithPendingRequests())
	var asked *consent.Request
	r.exec.NoteConsent(func(ev consent.Event) { asked = ev.Asked })
	require.Equal(t, runtime.Pending, r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	require.NotNil(t, asked)
	assert.Equal(t, "Read {path}", asked.Message)
	assert.Equal(t, []consent.Reason{{Code: "big", Message: "it is big"}}, asked.Reasons)
}

// SEMANTICS 5.7.9
func TestGrantsDieWithTheirRule(t *testing.T) {
	policy := decide(runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "big", MaxCover: runtime.CoverTool}}})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, asking(func(c *runtime.Consent) { c.Ask = 0 }))}, engine.WithPendingRequests())
	turn := r.run().Turn(engine.TurnConfig{})
	out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	a := yes("alice")
	a.Grant = consent.ForSession
	require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), out.RequestID, a).Kind)
	r.exec.RetireGrants(func(tool, rule string) bool { return tool == "file_read" && rule == "big" })
	require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
	r.exec.RetireGrants(func(string, string) bool { return false })
	assert.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("c3", "file_read", goodInput)).Kind)
}

// SEMANTICS 5.13.3, 5.13.4
func TestConsentOffLiftsQuestionsOnlyAndIsRecorded(t *testing.T) {
	var answer runtime.Decision
	policy := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { return answer, nil })
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests())
	turn := r.run().Turn(engine.TurnConfig{})
	require.NoError(t, r.exec.SuspendConsent(t.Context(), time.Now().Add(time.Minute), runtime.ProgramActor("admin"), "an incident"))
	events := r.sink.Events()
	require.Len(t, events, 1)
	assert.Equal(t, runtime.EventConsentOff, events[0].Kind)
	assert.Equal(t, "admin", events[0].By)
	require.Len(t, r.allFaults(), 1, "a warning")
	for _, tc := range []struct {
		d    runtime.Decision
		want runtime.OutcomeKind
	}{
		{runtime.Decision{Effect: runtime.EffectAllow}, runtime.Completed},
		{runtime.Decision{}, runtime.Denied},
		{runtime.Decision{Effect: runtime.EffectAllow, Denials: []runtime.Denial{{Code: "never"}}}, runtime.Denied},
	} {
		answer = tc.d
		assert.Equal(t, tc.want, turn.Execute(t.Context(), callOf("", "file_read", goodInput)).Kind)
	}
}

// SEMANTICS 5.2.5, 7.4.2
func TestEditIsDecodedAndJudgedLikeAnyInput(t *testing.T) {
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		d := runtime.Decision{Effect: runtime.EffectAllow}
		if in.Args.(*readInput).Limit > 100 {
			d = runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "big", Approvers: []string{"cfo"}}}}
		}
		return d, nil
	})
	var j journal.Memory
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests(), engine.WithJournal(&j))
	r.recover()
	out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	for edit, want := range map[string]string{
		`{"path":"a.md","limit":0}`:   "invalid_input",
		`{"path":"a.md"}`:             "invalid_input",
		`{"path":"a.md","limit":500}`: "not_permitted",
	} {
		a := yes("alice")
		a.Edit = []byte(edit)
		res := r.exec.Decide(t.Context(), out.RequestID, a)
		assert.Equal(t, runtime.ResolutionRejected, res.Kind)
		assert.Equal(t, want, res.Reason.String(), edit)
	}
	a := yes("alice")
	a.Edit = []byte(`{"path":"b.md","limit":3}`)
	res := r.exec.Decide(t.Context(), out.RequestID, a)
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Contains(t, string(res.Outcome.Output), "b.md")
	assert.Equal(t, map[string]string{"args": goodInput, "final": string(a.Edit)}, recordedArguments(t, &j, "c1"))
}

// SEMANTICS 3.3.1
func TestConsentIsAskedLastThoughNobodyCanBeAsked(t *testing.T) {
	r := newRig(t, readTool(okRead), readTool(okRead, named("wire"), asking(), ruled(func(rs *runtime.Rules) {
		rs.RequiresPreceding = []string{"file_read"}
	})))
	out := r.turn().Execute(t.Context(), callOf("c1", "wire", goodInput))
	assert.Equal(t, []runtime.Reason{runtime.ReasonPrerequisiteMissing}, out.AllReasons)
}

// kindsAt returns the kinds of the entries of a journal, by position.
func kindsAt(t *testing.T, j journal.Journal) map[uint64]string {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	kinds := map[uint64]string{}
	for _, e := range entries {
		kinds[e.Seq] = e.Kind
	}
	return kinds
}

// TestEventsOfNoCallHaveTheirPosition: an event that belongs to no call has the position of its entry, and
// the numbers of the events around it are those of their entries, too.
// SEMANTICS 2.1.8
func TestEventsOfNoCallHaveTheirPosition(t *testing.T) {
	j := new(journal.Memory)
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests(), engine.WithJournal(j))
	r.recover()
	turn := r.run().Turn(engine.TurnConfig{})
	turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	r.exec.Decide(t.Context(), "nonsense", action.Answer{By: runtime.ProgramActor("admin"), Approve: true})
	require.NoError(t, r.exec.SuspendConsent(t.Context(), time.Now().Add(time.Minute), runtime.ProgramActor("admin"), "an incident"))
	turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
	kinds, met := kindsAt(t, j), map[string]bool{}
	for _, ev := range r.sink.Events() {
		want := ev.Kind.String()
		if ev.CallID == "" {
			want, met[want] = journal.KindConsent, true
		}
		assert.Equal(t, want, kinds[ev.Seq], "%v at %d", ev.Kind, ev.Seq)
	}
	assert.Equal(t, map[string]bool{"consent.off": true, "approval.decided": true}, met)
}
