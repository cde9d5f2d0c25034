package engine_test

import (
	"context"
	"sync"
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

// kindsIn returns the kinds of the entries of a journal.
func kindsIn(t *testing.T, j journal.Journal) (kinds []string) {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	for i := range entries {
		kinds = append(kinds, entries[i].Kind)
	}
	return kinds
}

// refusesAll requires that the session s of an executor has ended for its callers.
func refusesAll(t *testing.T, r *rig, turn *engine.Turn) {
	t.Helper()
	s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "other"})
	if turn != nil {
		for name, in := range map[string]runtime.Call{
			"a new call": callOf("new", "put", goodInput), "a call without an id": callOf("", "put", goodInput), "one that completed": callOf("c1", "put", goodInput),
			"its id for another one": callOf("c1", "put", `{"path":"b.md"}`), "an unknown tool": callOf("x", "gone", `{}`), "one that waited": callOf("c2", "asks", goodInput),
		} {
			for _, out := range append(turn.ExecuteBatch(t.Context(), []runtime.Call{in}, engine.Parallel), turn.Execute(t.Context(), in)) {
				assert.Equal(t, []any{runtime.Denied, runtime.ReasonRunFinished}, []any{out.Kind, out.Reason}, name)
				assert.Contains(t, out.Message, "the session has ended", name)
			}
			_, err := turn.StartCall(in)
			assert.ErrorContains(t, err, "the session has ended", name)
		}
		assert.Equal(t, runtime.ReasonRunFinished, turn.WhatIf(t.Context(), callOf("new", "put", goodInput)).Outcome.Reason)
	}
	_, err := s.StartRun(t.Context(), engine.RunConfig{ID: "r2"})
	assert.ErrorContains(t, err, "the session has ended")
	_, open := s.Run("r")
	assert.False(t, open)
	for _, req := range []action.UndoRequest{{CallID: "c1"}, {CallID: "never"}, {RunID: "r"}, {CallID: "c1", DryRun: true}} {
		req.By = runtime.ProgramActor("alice")
		_, err := s.Undo(t.Context(), req)
		_, code := action.ResultOf(err)
		assert.Equal(t, action.CodeExpired, code)
	}
	assert.Equal(t, runtime.ReasonRunFinished, s.Await(t.Context(), "c1").Reason)
	assert.Empty(t, r.exec.Requests())
	assert.Empty(t, r.exec.Grants(action.GrantFilter{Live: true}))
	require.NoError(t, s.End(t.Context()), "it may be ended again")
}

// TestEndedSession: an ended session refuses everything, in this process and in the next ones, and nothing of it is
// recorded any more (SEMANTICS 1.4.5).
func TestEndedSession(t *testing.T) {
	var j journal.Memory
	asks := readTool(okRead, asking(), named("asks"))
	put := putTool(okRead, func(string) { t.Error("it was undone") })
	r := recovered(t, &j, put, asks)
	run := r.run()
	turn := run.Turn(engine.TurnConfig{})
	require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "put", goodInput)).Kind)
	granted := turn.Execute(t.Context(), callOf("c0", "asks", `{"path":"b.md","limit":2}`))
	answer := yes("alice")
	answer.Grant, answer.Cover = consent.ForSession, runtime.CoverExact
	require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), granted.RequestID, answer).Kind)
	require.Len(t, r.exec.Grants(action.GrantFilter{Live: true}), 1)
	waits := turn.Execute(t.Context(), callOf("c2", "asks", goodInput))
	require.Equal(t, runtime.Pending, waits.Kind)
	_, err := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "q"})
	require.NoError(t, err)
	other, err := r.exec.Session(engine.SessionConfig{ID: "t", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)

	s, _ := r.exec.FindSession("s")
	require.NoError(t, s.End(t.Context()))
	kinds := kindsIn(t, &j)
	assert.Equal(t, []string{"run.closed", "run.closed", "session.ended"}, []string{kinds[len(kinds)-4], kinds[len(kinds)-2], kinds[len(kinds)-1]})
	assert.Equal(t, []string{"tool.aborted"}, r.kinds("c2")[len(r.kinds("c2"))-1:])
	assert.Equal(t, consent.AlreadyResolved, r.exec.Decide(t.Context(), waits.RequestID, yes("alice")).Reason)
	kinds = kindsIn(t, &j)
	refusesAll(t, r, turn)
	assert.Equal(t, kinds, kindsIn(t, &j), "nothing is recorded of an ended session")
	assert.Equal(t, runtime.Completed, other.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "put", goodInput)).Kind)

	for range 2 {
		r = recovered(t, &j, put, asks)
		kinds = kindsIn(t, &j)
		refusesAll(t, r, nil)
		assert.Equal(t, kinds, kindsIn(t, &j))
		assert.Equal(t, consent.AlreadyResolved, r.exec.Decide(t.Context(), waits.RequestID, yes("alice")).Reason)
		_, open := r.exec.Session(engine.SessionConfig{ID: "t", Principal: "agent"}).Run("r")
		assert.True(t, open, "another session goes on")
		assert.Empty(t, r.allFaults())
	}
}

// TestEndOfASessionWithoutAJournal: the Session itself refuses.
// SEMANTICS 1.4.5
func TestEndOfASessionWithoutAJournal(t *testing.T) {
	r := newRig(t, readTool(okRead))
	s := r.exec.Session(engine.SessionConfig{ID: "s"})
	run, err := s.StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	turn := run.Turn(engine.TurnConfig{})
	turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.NoError(t, s.End(t.Context()))
	assert.Equal(t, runtime.ReasonRunFinished, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Reason)
	assert.Equal(t, runtime.ReasonRunFinished, run.Child(engine.RunConfig{}).Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Reason)
	_, err = s.StartRun(t.Context(), engine.RunConfig{})
	assert.Error(t, err)
	assert.NoError(t, (*engine.Session)(nil).End(t.Context()))
	assert.NoError(t, new(engine.Session).End(t.Context()))
}

// TestEndOfASessionEndsItsCalls: a call that runs gets its outcome, and End waits for its handler as long as ctx allows.
// SEMANTICS 1.4.5
func TestEndOfASessionEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		r := recovered(t, &j, sleepy(4*time.Second, writes))
		turn := r.turn()
		var wg sync.WaitGroup
		wg.Go(func() {
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, []any{runtime.Cancelled, runtime.ReasonRunClosed}, []any{out.Kind, out.Reason})
		})
		time.Sleep(time.Second)
		s, _ := r.exec.FindSession("s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorContains(t, s.End(ctx), "1 handlers or commands are still running")
		wg.Wait()
		kinds := kindsIn(t, &j)
		assert.Equal(t, journal.KindSessionEnded, kinds[len(kinds)-1], "it has ended nevertheless")
		time.Sleep(4 * time.Second)
		kinds = kindsIn(t, &j)
		assert.Equal(t, runtime.EventLateResult.String(), kinds[len(kinds)-1])
		require.NoError(t, s.End(t.Context()))
		refusesAll(t, recovered(t, &j, sleepy(time.Second)), nil)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestEndOfASessionWaitsForUndos: an undo that runs is settled, and no other one begins.
// SEMANTICS 1.4.5
func TestEndOfASessionWaitsForUndos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		r := recovered(t, &j, putTool(okRead, func(string) { time.Sleep(3 * time.Second) }, func(s *runtime.Spec) { s.Deadline = time.Minute }))
		turn := r.turn()
		for _, id := range []string{"c1", "c2"} {
			require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(id, "put", goodInput)).Kind)
		}
		s, _ := r.exec.FindSession("s")
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")})
			assert.NoError(t, err)
		})
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorContains(t, s.End(ctx), "1 undos are still running")
		_, err := s.Undo(t.Context(), action.UndoRequest{CallID: "c2", By: runtime.ProgramActor("alice")})
		_, code := action.ResultOf(err)
		assert.Equal(t, action.CodeExpired, code)
		require.NoError(t, s.End(t.Context()))
		wg.Wait()
		kinds := kindsIn(t, &j)
		assert.Equal(t, []string{journal.KindSessionEnded, runtime.EventUndone.String()}, kinds[len(kinds)-2:])
		refusesAll(t, recovered(t, &j, putTool(okRead, func(string) {})), nil)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestUnknownCallOfAnEndedSession: what became of it can still be said, also after a restart.
// SEMANTICS 1.4.5
func TestUnknownCallOfAnEndedSession(t *testing.T) {
	for _, restarts := range []int{0, 1} {
		var j journal.Memory
		started, release := make(chan struct{}), make(chan struct{})
		hang := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			close(started)
			<-release
			return okRead(ctx, in)
		}, writes)
		turn := recovered(t, &j, hang).turn()
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		<-started
		r := recovered(t, &j, readTool(okRead, writes))
		s, _ := r.exec.FindSession("s")
		require.Equal(t, runtime.Unknown, s.Await(t.Context(), "c1").Kind)
		require.NoError(t, s.End(t.Context()))
		assert.Equal(t, runtime.Unknown, s.Await(t.Context(), "c1").Kind)
		for range restarts {
			r = recovered(t, &j, readTool(okRead, writes))
		}
		require.NoError(t, r.exec.Resolve(t.Context(), "s", "c1", action.ResolveRequest{TookEffect: true, By: runtime.ProgramActor("alice")}))
		s, _ = r.exec.FindSession("s")
		assert.Equal(t, runtime.Completed, s.Await(t.Context(), "c1").Kind)
		refused := recovered(t, &j, readTool(okRead, writes))
		s, _ = refused.exec.FindSession("s")
		assert.Equal(t, runtime.ReasonRunFinished, s.Await(t.Context(), "c1").Reason, "nothing is open in it any more")
		assert.Empty(t, refused.allFaults())
		close(release)
	}
}
