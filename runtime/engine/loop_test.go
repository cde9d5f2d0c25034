package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
)

func ruled(change func(*runtime.Rules)) func(*runtime.Spec) {
	return func(s *runtime.Spec) { change(&s.Rules) }
}

// kindsOf returns the kinds of outcomes, in their order.
func kindsOf(outcomes []runtime.Outcome) (kinds []runtime.OutcomeKind) {
	for _, out := range outcomes {
		kinds = append(kinds, out.Kind)
	}
	return kinds
}

// TestBatch makes the calls of one message. In parallel mode they run at once, and a
// call with an order rule waits for all calls before it.
// SEMANTICS 4.3.3
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t,
			sleepy(time.Second, named("fetch"), ruled(func(rs *runtime.Rules) { rs.MaxCalls = 3 })),
			sleepy(time.Second, named("merge"), ruled(func(rs *runtime.Rules) { rs.RequiresPreceding = []string{"fetch"} })))
		calls := []runtime.Call{
			callOf("c1", "fetch", goodInput), callOf("c2", "fetch", goodInput), callOf("c3", "merge", goodInput),
			callOf("c4", "fetch", goodInput), callOf("c5", "fetch", goodInput), callOf("c1", "fetch", goodInput),
		}
		start := time.Now()
		outcomes := r.turn().ExecuteBatch(t.Context(), calls, engine.Parallel)
		assert.Equal(t, []runtime.OutcomeKind{
			runtime.Completed, runtime.Completed, runtime.Completed, runtime.Completed, runtime.Denied, runtime.Completed,
		}, kindsOf(outcomes))
		assert.Equal(t, runtime.ReasonMaxCalls, outcomes[4].Reason)
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Equal(t, "c1", outcomes[5].CallID)
		start = time.Now()
		r.turn().ExecuteBatch(t.Context(), calls[:3], engine.Sequential)
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

// TestBatchIsAdmittedBeforeItRuns lets a call fail at once: an equal call of the same
// message is still a duplicate, because both were admitted before.
// SEMANTICS 3.5.5
func TestBatchIsAdmittedBeforeItRuns(t *testing.T) {
	tool := readTool(func(context.Context, *readInput) (*readOutput, error) { return nil, errors.New("mischief") },
		func(s *runtime.Spec) { s.Dedupe.Mode = runtime.DedupeAlways })
	for range 50 {
		r := newRig(t, tool)
		turn := r.turn()
		calls := []runtime.Call{callOf("c1", "file_read", goodInput), callOf("c2", "file_read", goodInput)}
		outcomes := turn.ExecuteBatch(t.Context(), calls, engine.Parallel)
		require.Equal(t, []runtime.OutcomeKind{runtime.Failed, runtime.Duplicate}, kindsOf(outcomes))
		require.Equal(t, runtime.Failed, turn.Execute(t.Context(), callOf("c3", "file_read", goodInput)).Kind, "errors are forgotten")
	}
}

// SEMANTICS 4.19.1, 7.4.2
func TestHeartbeat(t *testing.T) {
	r := newRig(t, readTool(okRead, func(s *runtime.Spec) { s.Heartbeat, s.Dedupe.Mode = true, runtime.DedupeAlways }))
	turn := r.turn()
	for _, tc := range []struct {
		input string
		kind  runtime.OutcomeKind
		loop  runtime.Loop
	}{
		{`{"path":"a","limit":1}`, runtime.Completed, runtime.LoopYield},
		{`{"path":"a","request_heartbeat":true,"limit":1}`, runtime.Duplicate, runtime.LoopContinue},
		{`{"request_heartbeat":true,"path":"b","limit":1}`, runtime.Completed, runtime.LoopContinue},
		{`{"path":"c","limit":1, "request\u005fheartbeat" : false }`, runtime.Completed, runtime.LoopYield},
		{`{"path":"d","limit":1,"request_heartbeat":1}`, runtime.Denied, runtime.LoopContinue},
		{`{"path":"d","limit":1,"request_heartbeat":true,"request_heartbeat":true}`, runtime.Denied, runtime.LoopContinue},
		{`{"request_heartbeat":true}`, runtime.Denied, runtime.LoopContinue},
	} {
		out := turn.Execute(t.Context(), callOf("", "file_read", tc.input))
		assert.Equal(t, tc.kind, out.Kind, tc.input)
		assert.Equal(t, tc.loop, out.Loop, tc.input)
	}
}

// TestPhases takes a run to its end, once with ModelStopped and once without.
// SEMANTICS 1.1.2, 4.11.2, 4.14.8, 4.15.1
func TestPhases(t *testing.T) {
	r := newRig(t, readTool(okRead, named("init"), func(s *runtime.Spec) { s.Rules.StartConstraint, s.Args = true, goodInput }),
		readTool(okRead, named("work")),
		readTool(okRead, named("save"), func(s *runtime.Spec) { s.Rules.RequiredBeforeExit, s.Args = true, goodInput }))
	run := r.run()
	turn := run.Turn(engine.TurnConfig{})
	out := turn.Execute(t.Context(), callOf("c1", "work", goodInput))
	assert.Equal(t, runtime.ReasonStartConstraint, out.Reason)
	assert.Equal(t, "call init", out.Steps[0].String())
	assert.Contains(t, out.Message, "call init")
	assert.Equal(t, []runtime.OutcomeKind{runtime.Completed}, kindsOf(turn.ExecuteRequired(t.Context())), "the start tool alone")
	assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "work", goodInput)).Kind)
	st := run.ModelStopped(t.Context())
	assert.Equal(t, runtime.RunRunning, st.State)
	assert.Contains(t, st.Reminder, "save")
	assert.Equal(t, []runtime.OutcomeKind{runtime.Completed}, kindsOf(turn.ExecuteRequired(t.Context())))
	assert.Equal(t, runtime.RunFinished, run.ModelStopped(t.Context()).State)

	run, err := r.exec.Session(engine.SessionConfig{}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	run.ModelStopped(t.Context())
	assert.Equal(t, runtime.RunRunning, run.ModelStopped(t.Context()).State)
	st = run.ModelStopped(t.Context())
	assert.Equal(t, runtime.RunIncomplete, st.State)
	assert.Equal(t, []string{"save"}, st.PendingExit)
}

// TestSubAgents have their own counters, share the run and have no grants of their
// parent.
// SEMANTICS 1.2.3, 4.21.1, 4.21.2, 4.21.3
func TestSubAgents(t *testing.T) {
	set := &runtime.Rules{MaxCalls: 5}
	r := newInbox(t,
		readTool(okRead, named("work"), func(s *runtime.Spec) { s.Rules.MaxCalls, s.Set = 2, set }),
		readTool(okRead, named("wire"), asking(), func(s *runtime.Spec) { s.Set = set }))
	run := r.run()
	child := run.Child(engine.RunConfig{ID: "helper"})
	grand := child.Child(engine.RunConfig{ID: "x"})
	assert.Equal(t, []string{"helper", "helper/x"}, []string{child.Agent(), grand.Agent()})
	do := func(of *engine.Run, tool string) runtime.Outcome {
		return of.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("", tool, goodInput))
	}
	do(run, "work")
	do(run, "work")
	assert.Equal(t, runtime.ReasonMaxCalls, do(run, "work").Reason)
	assert.Equal(t, runtime.Completed, do(child, "work").Kind)
	out := do(run, "wire")
	a := yes("alice")
	a.Grant, a.Cover = consent.ForSession, runtime.CoverTool
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, a).Outcome.Kind)
	out = do(child, "wire")
	assert.Equal(t, runtime.Pending, out.Kind, "the grant is the parent's")
	last := do(grand, "work")
	assert.Equal(t, runtime.ReasonMaxCalls, last.Reason, "all tools together")
	assert.Equal(t, 5, last.Detail.Max)
	require.NoError(t, child.Close(t.Context()))
	assert.Equal(t, "already_resolved", r.exec.Decide(t.Context(), out.RequestID, a).Reason.String())
	assert.Equal(t, runtime.ReasonRunFinished, do(grand, "work").Reason)
	assert.Equal(t, runtime.Completed, do(run, "wire").Kind, "its parent goes on, with a slot that was given back")
	assert.Len(t, r.exec.Grants(action.GrantFilter{Tool: "wire", Live: true}), 1)
	assert.NoError(t, r.exec.Revoke(t.Context(), r.exec.Grants(action.GrantFilter{})[0].ID, runtime.ProgramActor("bob"), ""))
	assert.Empty(t, r.exec.Grants(action.GrantFilter{Live: true}))
}

func TestPeriodic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, readTool(okRead, func(s *runtime.Spec) { s.Every, s.Args, s.Rules.MaxCalls = 10*time.Minute, goodInput, 3 }))
		run := r.run()
		done := make(chan error)
		go func() { done <- run.Periodic(t.Context()) }()
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		assert.Equal(t, map[string]int{"file_read": 2}, run.Status().Invocations)
		time.Sleep(time.Hour)
		assert.Equal(t, map[string]int{"file_read": 3}, run.Status().Invocations, "admitted like any")
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, <-done)
	})
}

// TestUndo undoes calls with a handler that may refuse, fail or hang.
// SEMANTICS 4.20.3
func TestUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var how atomic.Pointer[func() error]
		spec := &runtime.Spec{Name: "put", Undo: &runtime.UndoSpec{TTL: time.Minute}, Rules: runtime.Rules{ExclusiveGroups: []string{"g"}}}
		tool := runtime.NewTool(spec, &readInputRule, okRead, runtime.WithUndo(&readInputRule, &readOutputRule,
			func(_ context.Context, in *readInput) (*readInput, error) { return in, nil },
			func(_ context.Context, u *runtime.Undo[readInput, readInput, readOutput]) error {
				assert.Equal(t, "a.md", u.State.Path)
				assert.Equal(t, int64(2), u.Output.Size)
				return (*how.Load())()
			}))
		r := newRig(t, tool, readTool(okRead, ruled(func(rs *runtime.Rules) { rs.ExclusiveGroups = []string{"g"} })))
		ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{})
		turn.Execute(t.Context(), callOf("c1", "put", goodInput))
		undo := func() undoing {
			return undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")}))
		}
		for _, tc := range []struct {
			how    func() error
			kind   string
			reason action.Code
		}{
			{func() error { return runtime.ErrDrift }, undoRejected, action.CodeDrift},
			{func() error { return errors.New("mischief") }, undoFailed, action.CodeHandlerError},
			{func() error { panic("mischief") }, undoFailed, action.CodeHandlerError},
			{func() error { time.Sleep(46 * time.Second); return nil }, undoFailed, action.CodeTimedOut},
			{func() error { return nil }, undoOK, ""},
			{nil, undoRejected, action.CodeAlreadyUndone},
		} {
			how.Store(&tc.how)
			res := undo()
			assert.Equal(t, tc.kind, res.Kind)
			assert.Equal(t, tc.reason, res.Reason)
		}
		assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind, "the group is free")
		assert.Equal(t, action.CodeNotUndoable, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c2", By: runtime.ProgramActor("ops")})).Reason)
		assert.Equal(t, action.CodeUnknownCall, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c9", By: runtime.ProgramActor("ops")})).Reason)
		time.Sleep(time.Minute)
	})
}
