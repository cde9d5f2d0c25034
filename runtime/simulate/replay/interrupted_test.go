package replay_test

import (
	"context"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

const again = "idempotent: true\n    retry: {max: 3, initial: 1s}\n    "

// killed ends the process of a recorder after its last write but some, and lets
// another one take the journal over after a while.
func (r *recorder) killed(text string, before int, after time.Duration, opts ...engine.Option) *recorder {
	left := r.journal.upTo(r.t, r.journal.last(before))
	at := r.clock.Now().Add(after)
	r.end()
	next := successor(r, left, at)
	next.open(parse(r.t, text), runtime.PolicyFunc(allow), append(opts, engine.WithPendingRequests())...)
	next.session(engine.SessionConfig{ID: "s", Principal: "agent"})
	next.resume()
	return next
}

// replays requires that a recording replays faithfully, and that its calls have ended
// as they should have for the test to show anything.
func (r *recorder) replays(text string, outcomes map[string]string) *store {
	t := r.t
	t.Helper()
	j := r.end()
	_, facts := facts(t, j)
	for id, want := range outcomes {
		require.NotEmpty(t, facts[id], id)
		assert.Contains(t, facts[id][len(facts[id])-1].what, want, id)
	}
	unchanged(t, against(t, j, text, allow))
	return j
}

func (r *recorder) trigger(id, tool, input string) {
	r.begin(func() {
		_, err := r.turn.StartCall(runtime.Call{ID: id, Tool: tool, Input: []byte(input)})
		assert.NoError(r.t, err)
	})
}

// TestRunAgainAfterARestart cancels a call that a recovery runs again: its handler
// goes on, and keeps its slot.
func TestRunAgainAfterARestart(t *testing.T) {
	text := with(again + "deadline: 3s\n    limits: {concurrency: 1}")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"how":"hang"}`)
	r = r.killed(text, 0, time.Second)
	r.one("c2", `{"n":2}`)
	r.do(func() { r.ses.Cancel(t.Context(), "c1", runtime.ProgramActor("bob"), "enough") })
	r.advance(4 * time.Second)
	r.replays(text, map[string]string{"c1": "vain", "c2": "at_capacity"})
}

// TestProgramsThatDidNotRun: a command that was started and denied, because the host had no room for it or
// its program has changed, is denied in a replay.
func TestProgramsThatDidNotRun(t *testing.T) {
	text := with("deadline: 3s")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"how":"crowded","ms":1000}`)
	r.one("c2", `{"how":"changed"}`)
	r.one("c3", `{"n":2}`)
	r.advance(4 * time.Second)
	r.replays(text, map[string]string{"c1": "at_capacity", "c2": "program_changed", "c3": "completed"})
}

// TestACallThatFoundNoRoomIsMadeAgain: a replay does not make the call that was denied for the moment, and what comes after it in
// its run neither where it had been admitted: it held its reservations while it waited.
// SEMANTICS 1.4.10
func TestACallThatFoundNoRoomIsMadeAgain(t *testing.T) {
	text := with("deadline: 3s")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"how":"crowded","ms":1000}`)
	r.advance(4 * time.Second)
	r.one("c1", `{"how":"crowded","ms":1000}`)
	r.one("c2", `{"n":2}`)
	r.advance(4 * time.Second)
	report := against(t, r.end(), text, allow)
	require.Len(t, report.Runs, 1)
	require.Nil(t, report.Runs[0].Divergence)
	var why []string
	for _, n := range report.Runs[0].NotReplayable {
		why = append(why, n.Call+": "+n.Why)
	}
	const after = `: it comes after call "c1", which cannot be made again`
	assert.Equal(t, []string{"c1: it was refused for at_capacity, and was made again under its id", "c1" + after, "c2" + after}, why)
}

// TestManyRunAgain has more calls that a recovery runs again than the policy is
// evaluated at once, and one that recovery leaves unknown.
func TestManyRunAgain(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(1))
	text := with(again + "deadline: 3s")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	for _, id := range []string{"c1", "c2", "c3"} {
		r.one(id, `{"ms":2000}`)
	}
	r = r.killed(text, 0, time.Second)
	r.advance(time.Second)
	r = r.killed(text, 0, time.Second)
	r.replays(text, map[string]string{"c1": "completed", "c2": "completed", "c3": "completed"})
}

// TestJudgedAnewAfterARestart has a triggered call that waits for a slot when its
// process ends: recovery admits it anew. Calls that are made later wait behind it.
func TestJudgedAnewAfterARestart(t *testing.T) {
	text := with("limits: {concurrency: 1}\n    deadline: 10s\n    dedupe: 20s")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.trigger("c1", "a", `{"ms":3000}`)
	r.trigger("c2", "a", `{"ms":2000}`)
	r.advance(time.Second) // until that is written
	r = r.killed(text, 0, time.Second)
	r.one("c3", `{"ms":1000}`)
	r.one("c4", `{"ms":2000}`) // that is c2
	j := r.replays(text, map[string]string{"c1": "vain", "c2": "completed", "c3": "completed", "c4": "duplicate"})
	d := against(t, j, with("limits: {concurrency: 1}\n    deadline: 10s\n    dedupe: 20s\n    rules: {max_calls: 1}"), allow).Runs[0].Divergence
	assert.Equal(t, []any{"c2", replay.NewlyDenied}, []any{d.Call, d.Class})
}

// TestRunAgainInLine has a call that recovery runs again, which takes its place in the
// line for a slot before calls that are made later.
func TestRunAgainInLine(t *testing.T) {
	text := with(again + "limits: {concurrency: 1}\n    deadline: 5s")
	for range 5 { // which of c1 and c2 comes first is up to recovery
		r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
		r.trigger("c1", "a", `{"ms":3000}`)
		r.trigger("c2", "a", `{"ms":3000}`)
		r.trigger("c3", "a", `{"ms":3000}`)
		r.advance(time.Second)
		r = r.killed(text, 0, time.Second)
		r.trigger("c4", "a", `{"ms":1000}`)
		r.replays(text, nil)
	}
}

// TestApprovedBeforeARestart approves calls whose processes end before they start: one
// starts in the next, with edited arguments, the other one comes too late in the third.
func TestApprovedBeforeARestart(t *testing.T) {
	text := with("consent: {ask: always, timeout: 8s, max_cover: tool, allow_edit: true}\n    limits: {concurrency: 1}")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"n":1}`)
	r.answer("c1", action.Answer{By: runtime.ProgramActor("alice"), Approve: true, Edit: []byte(`{"ms":100,"n":7}`)})
	writes := 0
	for r.wrote("c1", "approval.decided", writes) {
		writes++
	}
	r = r.killed(text, writes-1, 5*time.Second)
	r.advance(time.Second)
	r.one("c2", `{"ms":30000}`)
	r.answer("c2", action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	r.one("c3", `{"n":3}`)
	r.answer("c3", action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	r = r.killed(text, 0, time.Second)
	r = r.killed(text, 0, 2*time.Minute)
	r.replays(text, map[string]string{"c1": "completed", "c2": "vain"})
}

// wrote reports whether the store had a record of a call before its last writes.
func (r *recorder) wrote(call, kind string, before int) bool {
	entries, err := r.journal.upTo(r.t, r.journal.last(before)).Read(r.t.Context(), 0, 1000)
	require.NoError(r.t, err)
	for _, e := range entries {
		if e.Call == call && e.Kind == kind {
			return true
		}
	}
	return false
}

// TestKilledInItsRecovery has a process that settles one of two calls before it is
// killed too: the other one ends, for its cooldown, when the third process settles it.
func TestKilledInItsRecovery(t *testing.T) {
	text := tools(map[string]string{"a": "    rules: {cooldown: 10s}\n", "b": "    rules: {cooldown: 10s}\n"})
	for before := range 6 {
		r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
		r.one("c1", `{"ms":60000}`)
		r.call(r.turn, runtime.Call{ID: "c2", Tool: "b", Input: []byte(`{"ms":60000}`)})
		r = r.killed(text, 0, time.Second)
		r = r.killed(text, before, 8*time.Second)
		r.advance(5 * time.Second)
		r.one("c3", `{}`)
		r.call(r.turn, runtime.Call{ID: "c4", Tool: "b", Input: []byte(`{}`)})
		r.replays(text, nil)
	}
}

// TestKilledInAClose has a process that is killed while it closes a run with a call of
// a sub-agent that a process before had made.
func TestKilledInAClose(t *testing.T) {
	text := with(askAlways)
	for before := range 5 {
		r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
		r.one("c1", `{"n":1}`)
		r.call(r.run.Child(engine.RunConfig{ID: "helper"}).Turn(engine.TurnConfig{}), runtime.Call{ID: "c2", Tool: "a", Input: []byte(`{"n":2}`)})
		r.one("c3", `{"n":3}`)
		r = r.killed(text, 0, time.Second)
		r.do(func() { _ = r.run.Close(gone()) })
		r = r.killed(text, before, time.Second)
		r.one("c4", `{"n":4}`)
		r.replays(text, nil)
	}
}

// TestCommitsOverARestart kills a process between the decision to commit and the
// commit: recovery rolls it forward, or does not know where a foreign transaction is.
func TestCommitsOverARestart(t *testing.T) {
	for foreign, want := range map[bool]string{false: "completed", true: "vain"} {
		text := tools(map[string]string{"b": "    rules: {requires_preceding: [a]}\n"})
		p := &slow{foreign: foreign}
		r := newRecorderOf(t, parse(t, text), runtime.PolicyFunc(allow), engine.WithPendingRequests(), engine.WithParticipant("slow", p))
		p.clock, r.effect = r.clock, func(ctx context.Context) error {
			_, err := runtime.PartOf(ctx, p)
			return err
		}
		r.one("c1", `{}`)
		r.advance(time.Second)
		r = r.killed(text, 0, time.Second, engine.WithParticipant("slow", &slow{left: []runtime.CallKey{{Session: "s", Call: "c1"}}}))
		r.call(r.turn, runtime.Call{ID: "c2", Tool: "b", Input: []byte(`{}`)})
		r.replays(text, map[string]string{"c1": want})
	}
}

// A slow participant takes its time to commit.
type slow struct {
	clock   *simulated.Clock
	foreign bool
	left    []runtime.CallKey
}

func (s *slow) Begin(context.Context, runtime.CallKey) (runtime.Part, error) {
	if s.foreign {
		return &foreignPart{s}, nil
	}
	return s, nil
}
func (s *slow) Unsettled(context.Context) ([]runtime.CallKey, error) { return s.left, nil }
func (*slow) Settle(context.Context, runtime.CallKey, bool) error    { return nil }
func (*slow) Seal(context.Context) ([]byte, error)                   { return []byte("sealed"), nil }
func (s *slow) Commit(context.Context) error                         { s.clock.Sleep(3 * time.Second); return nil }
func (*slow) Rollback(context.Context) error                         { return nil }

type foreignPart struct{ *slow }

func (*foreignPart) Foreign() {}

// TestAForgottenIDIsUsedAgain: a later call with the id of one that an archive has forgotten is another call. It is not made again, because the replay
// still knows the first one, and what comes after it in its run is not either.
func TestAForgottenIDIsUsedAgain(t *testing.T) {
	text := with("")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{}`)
	r.advance(time.Second)
	r.newRun()
	r.do(func() {
		require.NoError(t, r.exec.Snapshots().Above(t.Context(), "s", r.journal.last(0), r.clock.Now().Add(time.Hour)))
	})
	r = r.killed(text, 0, time.Second)
	r.one("c1", `{"how":"error"}`)
	r.advance(time.Second)
	r.one("c2", `{}`)
	r.advance(time.Second)
	r.newRun()
	r.one("c3", `{}`)
	report := against(t, r.end(), text, allow)
	why := map[string]string{}
	for _, run := range report.Runs {
		require.Nil(t, run.Divergence, "%+v", run.Divergence)
		for _, n := range run.NotReplayable {
			why[n.Call] = n.Why
		}
	}
	assert.Len(t, why, 2)
	assert.Contains(t, why["c1"], "its id was that of a call that had been forgotten")
	assert.Contains(t, why["c2"], `it comes after call "c1", which cannot be made again`)
	assert.Equal(t, 2, report.Summary.Unchanged)
}
