package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

// with is a declaration in which tool a has some members.
func with(a string) string { return tools(map[string]string{"a": "    " + a + "\n"}) }

var askAlways = `consent: {ask: always, timeout: 60s, max_cover: tool, approvers: [alice, bob]}`

func (r *recorder) one(id, input string) {
	r.call(r.turn, runtime.Call{ID: id, Tool: "a", Input: []byte(input)})
}

func against(t *testing.T, j replay.Source, text string, policy runtime.PolicyFunc) *replay.Report {
	t.Helper()
	report, err := replay.Run(t.Context(), j, &replay.Candidate{Declaration: parse(t, text),
		Policy: func(*runtime.Registry) (runtime.Policy, error) { return policy, nil }})
	require.NoError(t, err)
	return report
}

func unchanged(t *testing.T, r *replay.Report) {
	t.Helper()
	for _, run := range r.Runs {
		require.Nil(t, run.Divergence, "%+v", run.Divergence)
		require.Empty(t, run.NotReplayable)
	}
	require.Equal(t, r.Summary.Calls, r.Summary.Unchanged)
}

// TestConsentThatBelongsToNoCall revokes a grant, switches consent off and asks
// anew, and lets a grant be given by two.
func TestConsentThatBelongsToNoCall(t *testing.T) {
	two := strings.Replace(askAlways, "ask: always", "ask: always, quorum: 2", 1)
	r := newRecorder(t, parse(t, with(two)), runtime.PolicyFunc(allow))
	yes := func(by string) action.Answer {
		return action.Answer{By: runtime.ProgramActor(by), Approve: true, Grant: consent.ForSession, Cover: runtime.CoverTool}
	}
	r.one("c1", `{"n":1}`)
	r.answer("c1", yes("carol")) // not permitted
	r.answer("c1", yes("alice"))
	r.advance(time.Second)
	r.answer("c1", yes("bob"))
	r.one("c2", `{"n":2}`) // by the grant
	grants := r.exec.Grants(action.GrantFilter{})
	require.Len(t, grants, 1)
	r.do(func() { r.exec.Revoke(t.Context(), grants[0].ID, runtime.ProgramActor("alice"), "enough") })
	r.one("c3", `{"n":3}`) // asked again
	r.advance(2 * time.Minute)
	r.do(func() {
		require.NoError(t, r.exec.SuspendConsent(t.Context(), r.clock.Now().Add(time.Minute), runtime.ProgramActor("alice"), "a test"))
	})
	r.one("c4", `{"n":4}`) // consent is off
	r.advance(2 * time.Minute)
	r.one("c5", `{"n":5}`)
	j := r.end()
	unchanged(t, against(t, j, with(two), allow))

	d := against(t, j, with(strings.Replace(two, "bob", "carol", 1)), allow).Runs[0].Divergence
	require.NotNil(t, d) // bob may not answer any more, and carol did
	d = against(t, j, with(`consent: {ask: always, max_cover: exact}`), allow).Runs[0].Divergence
	assert.Equal(t, replay.NewlyAsked, d.Class) // what was granted is too much now
	d = against(t, j, with("idempotent: true"), allow).Runs[0].Divergence
	assert.Equal(t, replay.NoLongerAsked, d.Class)
	assert.Equal(t, "c1", d.Call)
}

// TestRefusedAnyway: a call that is denied, or asked about, for other reasons is named and does not hide what comes
// after it.
func TestRefusedAnyway(t *testing.T) {
	text := with("rules: {max_calls: 3}")
	decides := func(denied map[string][]string, asked map[string]string) runtime.PolicyFunc {
		return func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			d := runtime.Decision{Effect: runtime.EffectAllow}
			for _, code := range denied[in.CallID] {
				d.Effect, d.Denials = runtime.EffectDeny, append(d.Denials, runtime.Denial{Code: code})
			}
			if id := asked[in.CallID]; id != "" {
				d.Effect, d.Asks = runtime.EffectAsk, []runtime.Ask{{ID: id}}
			}
			return d, nil
		}
	}
	r := newRecorder(t, parse(t, text), decides(map[string][]string{"c1": {"outside"}}, map[string]string{"c2": "sure"}))
	for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
		r.one(id, `{}`)
		if id == "c2" {
			r.answer("c2", action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
		}
	}
	j := r.end()
	report := against(t, j, text, decides(map[string][]string{"c1": {"dots", "outside"}, "c4": {"dots"}}, map[string]string{"c2": "really"}))
	run := report.Runs[0]
	require.NotNil(t, run.Divergence)
	assert.Equal(t, []any{"c4", replay.NewlyDenied}, []any{run.Divergence.Call, run.Divergence.Class})
	require.Len(t, run.Otherwise, 2)
	assert.Equal(t, []any{"c1", replay.Otherwise, []string{"dots", "outside"}}, []any{run.Otherwise[0].Call, run.Otherwise[0].Class, run.Otherwise[0].Candidate.Rules})
	assert.Equal(t, []any{"c2", []string{"really"}}, []any{run.Otherwise[1].Call, run.Otherwise[1].Candidate.Rules})
	assert.Equal(t, replay.Summary{Runs: 1, Diverged: 1, Calls: 5, Unchanged: 1, After: 1, NewlyDenied: 1, Otherwise: 2}, report.Summary)

	report = against(t, j, text, decides(map[string][]string{"c1": {"other"}}, map[string]string{"c2": "sure"}))
	assert.Nil(t, report.Runs[0].Divergence)
	assert.Equal(t, replay.Summary{Runs: 1, Calls: 5, Unchanged: 4, Otherwise: 1}, report.Summary)
	report = against(t, j, text, decides(map[string][]string{"c1": {"outside"}, "c5": {"late"}}, map[string]string{"c2": "sure"}))
	assert.Equal(t, "c5", report.Runs[0].Otherwise[0].Call, "a rule of the declaration denied it")
}

// TestMoreConsentThanWasGiven has an approval that is not enough any more.
func TestMoreConsentThanWasGiven(t *testing.T) {
	r := newRecorder(t, parse(t, with(askAlways)), runtime.PolicyFunc(allow))
	r.one("c1", `{"n":1}`)
	r.answer("c1", action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	j := r.end()
	unchanged(t, against(t, j, with(askAlways), allow))
	d := against(t, j, with(strings.Replace(askAlways, "ask: always", "ask: always, quorum: 2", 1)), allow).Runs[0].Divergence
	require.NotNil(t, d)
	assert.Equal(t, []any{replay.NewlyAsked, replay.Runs, replay.Asked}, []any{d.Class, d.Recorded.Decision, d.Candidate.Decision})
}

// TestPreviewsThatFailed fail again where people are asked, and nowhere else.
func TestPreviewsThatFailed(t *testing.T) {
	const shown = "consent: {ask: always, preview: true}"
	r := newRecorder(t, parse(t, with(shown)), runtime.PolicyFunc(allow))
	r.one("c1", `{"how":"blind"}`)
	r.one("c2", `{"n":2}`)
	r.answer("c2", action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	j := r.end()
	unchanged(t, against(t, j, with(shown), allow))
	d := against(t, j, with("idempotent: true"), allow).Runs[0].Divergence
	require.NotNil(t, d)
	assert.Equal(t, []any{"c1", replay.NoLongerAsked, "preview_failed"}, []any{d.Call, d.Class, d.Recorded.Reason})
}

// TestSessionsAreConfiguredAnew changes what a policy sees of a session.
func TestSessionsAreConfiguredAnew(t *testing.T) {
	policy := func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.Behavior != "writing" || in.Modes["web"] != "on" || len(in.Capabilities) != 1 {
			return runtime.Decision{Denials: []runtime.Denial{{Code: "behavior_not_allowed"}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	r := newRecorder(t, parse(t, with("idempotent: true")), runtime.PolicyFunc(policy))
	r.one("c1", `{}`)
	r.session(engine.SessionConfig{ID: "s", Principal: "agent", Behavior: "writing", Modes: map[string]string{"web": "on"}, Capabilities: []string{"x"}})
	r.one("c2", `{}`)
	j := r.end()
	report := against(t, j, with("idempotent: true"), policy)
	unchanged(t, report)
	d := against(t, j, with("idempotent: true"), allow).Runs[0].Divergence
	assert.Equal(t, []any{"c1", replay.NewlyAllowed, replay.Unrecorded}, []any{d.Call, d.Class, d.Candidate.Outcome})
}

// erasing is a journal whose private values were erased.
type erasing struct{ *store }

func (e erasing) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := e.store.Read(ctx, after, limit)
	for i := range list {
		list[i].Private = nil
	}
	return list, err
}

// TestSensitiveArguments are judged while they are there, and not when they were
// erased: then the call does what it did.
func TestSensitiveArguments(t *testing.T) {
	text := with("rules: {max_calls: 2}")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"key":"hunter2"}`)
	r.one("c2", `{}`)
	r.one("c3", `{}`)
	j := r.end()
	unchanged(t, against(t, j, text, allow))
	picky := func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if word(in.Args, "key") == "hunter2" {
			return runtime.Decision{}, nil
		}
		return allow(t.Context(), in)
	}
	assert.Equal(t, "c1", against(t, j, text, picky).Runs[0].Divergence.Call)

	for _, policy := range []runtime.PolicyFunc{allow, picky} {
		run := against(t, erasing{j}, text, policy).Runs[0]
		require.Nil(t, run.Divergence)
		assert.Equal(t, 2, run.Unchanged)
		require.Len(t, run.NotReplayable, 1)
		assert.Contains(t, run.NotReplayable[0].Why, "sensitive values of its arguments are not in the recording")
	}
	run := against(t, erasing{j}, with("rules: {max_calls: 1}"), allow).Runs[0]
	assert.Equal(t, "c2", run.Divergence.Call)
	run = against(t, erasing{j}, with("rules: {requires_preceding: [b]}"), allow).Runs[0]
	require.Nil(t, run.Divergence)
	assert.Len(t, run.NotReplayable, 3, "what comes after a call that would not run is not judged")
}

// TestNobodyToAsk replays a call that was refused because no approver was available.
func TestNobodyToAsk(t *testing.T) {
	r := newRecorderOf(t, parse(t, with(askAlways)), runtime.PolicyFunc(allow))
	r.one("c1", `{"n":1}`)
	r.one("c2", `{"n":2}`)
	j := r.end()
	unchanged(t, against(t, j, with(askAlways), allow))
	assert.Equal(t, replay.NewlyAllowed, against(t, j, with("idempotent: true"), allow).Runs[0].Divergence.Class)
}

// TestUndos are compared too.
func TestUndos(t *testing.T) {
	text := with("undo: {state: {type: object}, ttl: 1m}")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{}`)
	r.advance(30 * time.Second)
	r.do(func() { r.ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("bob")}) })
	j := r.end()
	unchanged(t, against(t, j, text, allow))
	deny := func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.Undo {
			return runtime.Decision{}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	for _, d := range []*replay.Divergence{
		against(t, j, text, deny).Runs[0].Divergence,
		against(t, j, strings.Replace(text, "1m", "10s", 1), allow).Runs[0].Divergence,
	} {
		require.NotNil(t, d)
		assert.Equal(t, []any{"c1", true, replay.NewlyDenied}, []any{d.Call, d.Undo, d.Class})
	}
}

// TestLongOutputs are recorded as their previews, which no schema describes, and
// are put aside again where the candidate answers with less.
func TestLongOutputs(t *testing.T) {
	const undoable = "undo: {state: {type: object}, ttl: 1m}\n    artifact: {over: 300, type: text/plain}"
	r := newRecorderOf(t, parse(t, with(undoable)), runtime.PolicyFunc(allow), engine.WithPendingRequests(), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
	r.one("c1", `{"how":"long"}`)
	r.one("c2", `{"n":2}`)
	r.do(func() { r.ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("bob")}) })
	require.NotNil(t, r.ses.Await(t.Context(), "c1").Artifact)
	j := r.end()
	unchanged(t, against(t, j, with(undoable), allow))
	unchanged(t, against(t, j, with(strings.Replace(undoable, "300", "256", 1)), allow))
	d := against(t, j, with(undoable+"\n    rules: {max_calls: 1}"), allow).Runs[0].Divergence
	assert.Equal(t, []any{"c2", replay.NewlyDenied}, []any{d.Call, d.Class})
}

// TestHandlersLastAsLongAsTheyDid holds a deadline against recorded handlers.
func TestHandlersLastAsLongAsTheyDid(t *testing.T) {
	r := newRecorder(t, parse(t, with("deadline: 10s")), runtime.PolicyFunc(allow))
	r.one("c1", `{"ms":4000}`)
	r.advance(5 * time.Second)
	r.one("c2", `{"how":"hang"}`)
	r.advance(11 * time.Second)
	j := r.end()
	unchanged(t, against(t, j, with("deadline: 10s"), allow))
	unchanged(t, against(t, j, with("deadline: 20s"), allow)) // how long c2 would have taken is not recorded
	d := against(t, j, with("deadline: 3s"), allow).Runs[0].Divergence
	assert.Equal(t, []any{"c1", replay.Otherwise, "completed", "timed_out"}, []any{d.Call, d.Class, d.Recorded.Outcome, d.Candidate.Outcome})
}

// TestCutRecordings have no beginning, or no end.
func TestCutRecordings(t *testing.T) {
	text := with("deadline: 10s")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"ms":4000}`)
	r.one("c2", `{}`)
	j := r.end()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for n := range entries {
		for _, part := range []cut{entries[:n], entries[n:]} {
			report := against(t, part, text, allow)
			assert.Zero(t, report.Summary.Diverged)
			assert.Equal(t, report.Summary.Calls, report.Summary.Unchanged+report.Summary.NotReplayable)
		}
	}
}

// TestProcessesAreNoSteps: what a command ran is in the recording, and no part of what is compared.
func TestProcessesAreNoSteps(t *testing.T) {
	text := with("deadline: 10s")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"ms":4000}`)
	r.one("c2", `{"how":"error"}`)
	j := r.end()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	var more cut
	for _, e := range entries {
		e.Seq *= 2
		more = append(more, e)
		if e.Kind != runtime.EventStarted.String() {
			continue
		}
		record, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		started, err := journal.NewEntry(e.Seq+1, &journal.Record{
			Kind: journal.KindProcessStarted, At: e.At, Session: e.Session, Run: e.Run, Turn: record.Turn, Call: e.Call, Tool: e.Tool,
			Process: &journal.Process{Program: "/bin/a"},
		}, nil)
		require.NoError(t, err)
		more = append(more, started)
	}
	require.Len(t, more, len(entries)+2)
	report := against(t, more, text, allow)
	unchanged(t, report)
	assert.Equal(t, 2, report.Summary.Calls)
}

// A cut is a part of a journal.
type cut []journal.Entry

func (c cut) Read(_ context.Context, after uint64, limit int) (list []journal.Entry, err error) {
	for _, e := range c {
		if e.Seq > after && len(list) < limit {
			list = append(list, e)
		}
	}
	return list, nil
}

// TestGivingUp ends a replay whose policy hangs.
func TestGivingUp(t *testing.T) {
	r := newRecorder(t, parse(t, with("deadline: 10s")), runtime.PolicyFunc(allow))
	r.one("c1", `{}`)
	j := r.end()
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	_, err := replay.Run(ctx, j, &replay.Candidate{Declaration: parse(t, with("deadline: 10s")), Policy: func(*runtime.Registry) (runtime.Policy, error) {
		return runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			cancel()
			<-release
			return runtime.Decision{}, nil
		}), nil
	}})
	close(release)
	require.ErrorIs(t, err, context.Canceled)
	_, err = replay.Run(t.Context(), j, &replay.Candidate{})
	require.ErrorContains(t, err, "Candidate.Declaration")
	broken := errors.New("no policy")
	_, err = replay.Run(t.Context(), j, &replay.Candidate{Declaration: parse(t, with("deadline: 10s")), Policy: func(*runtime.Registry) (runtime.Policy, error) {
		return nil, broken
	}})
	require.ErrorIs(t, err, broken)
}

// TestRestarts replays over the end of a process: requests that were open go on,
// and what was interrupted counts as given up.
func TestRestarts(t *testing.T) {
	text := tools(map[string]string{"a": "    " + askAlways + "\n", "b": "    rules: {max_calls: 2}\n"})
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"n":1}`)
	r.call(r.turn, runtime.Call{ID: "c2", Tool: "b", Input: []byte(`{"ms":60000}`)})
	r.advance(time.Second)
	left := r.journal.upTo(t, r.journal.last(0)) // what the process had written when it died
	r.end()

	next := successor(r, left, r.clock.Now())
	next.open(parse(t, text), runtime.PolicyFunc(allow), engine.WithPendingRequests())
	next.session(engine.SessionConfig{ID: "s", Principal: "agent"})
	next.resume()
	next.answer("c1", action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	next.call(next.turn, runtime.Call{ID: "c3", Tool: "b", Input: []byte(`{}`)})
	next.call(next.turn, runtime.Call{ID: "c4", Tool: "b", Input: []byte(`{}`)})
	j := next.end()
	unchanged(t, against(t, j, text, allow))
	d := against(t, j, strings.Replace(text, "max_calls: 2", "max_calls: 1", 1), allow).Runs[0].Divergence
	assert.Equal(t, []any{"c3", replay.NewlyDenied}, []any{d.Call, d.Class})
}
