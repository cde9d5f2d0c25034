package engine_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A waitingWorld is a session with a run r in which the call c1 completed. What a test leaves behind in it runs for
// runsFor from its start.
type waitingWorld struct {
	*rig
	session *engine.Session
	run     *engine.Run
	ledger  *ledgerOfWrites // a participant of the tool put
	tracer  *slowTracer
}

const runsFor = time.Minute

func newWaitingWorld(t *testing.T, undo func(context.Context) error, opts ...engine.Option) *waitingWorld {
	w := &waitingWorld{ledger: &ledgerOfWrites{at: map[string]func(){}}, tracer: &slowTracer{}}
	tools := []*runtime.Tool{sleepy(runsFor, writes), restoreTool(w.ledger, undo, func(s *runtime.Spec) { s.Deadline = runsFor / 2 })}
	w.rig = newRigWith(t, runtime.PolicyFunc(allowAll), tools, append(opts, engine.WithParticipant("ledger", w.ledger), engine.WithTracer(w.tracer))...)
	if len(opts) > 0 {
		w.recover()
	}
	w.run = w.rig.run()
	w.session = w.run.Session()
	require.Equal(t, runtime.Completed, w.execute("c1", "put").Kind)
	return w
}

func (w *waitingWorld) execute(id, tool string) runtime.Outcome {
	return w.run.Turn(engine.TurnConfig{}).Execute(w.t.Context(), callOf(id, tool, goodInput))
}

// undo undoes c1 and returns why it was not undone.
func (w *waitingWorld) undo(ctx context.Context) action.Code {
	_, err := w.session.Undo(ctx, action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")})
	_, code := action.ResultOf(err)
	return code
}

// leftBehind are the ways to leave a goroutine of a session behind: the goroutines that have waited for it do not any more.
var leftBehind = map[string]func(w *waitingWorld){
	"a handler of a run that was closed": func(w *waitingWorld) {
		_, err := w.run.Turn(engine.TurnConfig{}).StartCall(callOf("late", "file_read", goodInput))
		require.NoError(w.t, err)
		synctest.Wait()
		assert.ErrorContains(w.t, w.run.Close(within(w.t, time.Second)), "1 handlers or commands are still running")
		_, open := w.session.Run(w.run.ID())
		assert.False(w.t, open)
	},
	"a handler of a sub-agent of a run that was closed": func(w *waitingWorld) {
		child := w.run.Child(engine.RunConfig{ID: "child"})
		_, err := child.Turn(engine.TurnConfig{}).StartCall(callOf("late", "file_read", goodInput))
		require.NoError(w.t, err)
		synctest.Wait()
		assert.Error(w.t, child.Close(within(w.t, time.Second)))
		assert.Error(w.t, w.run.Close(within(w.t, time.Second)))
	},
	"a call that has not begun": func(w *waitingWorld) {
		w.tracer.takes = runsFor
		go func() {
			assert.Equal(w.t, runtime.ReasonRunFinished, w.execute("early", "file_read").Reason)
		}()
		synctest.Wait()
		require.NoError(w.t, w.run.Close(w.t.Context()))
	},
	"an undo handler that is late": func(w *waitingWorld) {
		assert.Equal(w.t, action.CodeTimedOut, w.undo(w.t.Context()))
	},
	"an undo handler whose caller has left": func(w *waitingWorld) {
		assert.Equal(w.t, action.CodeCancelled, w.undo(within(w.t, time.Second)))
	},
	"a commit of an undo whose caller has left": func(w *waitingWorld) {
		w.ledger.at["commit"] = func() { time.Sleep(runsFor) }
		assert.Equal(w.t, action.CodeUnknown, w.undo(within(w.t, time.Second)))
	},
}

// TestEndWaitsForAllThatRuns: Session.End waits for what an earlier Run.Close, a deadline or a caller gave up, with a
// journal and without.
// SEMANTICS 1.4.8
func TestEndWaitsForAllThatRuns(t *testing.T) {
	for name, leave := range leftBehind {
		for _, recorded := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", recorded: ", recorded), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var opts []engine.Option
					if recorded {
						opts = append(opts, engine.WithJournal(new(journal.Memory)))
					}
					undo := func(context.Context) error { time.Sleep(runsFor); return nil }
					if name == "a commit of an undo whose caller has left" {
						undo = nil
					}
					w := newWaitingWorld(t, undo, opts...)
					start := time.Now()
					leave(w)
					for range 2 {
						err := w.session.End(within(w.t, time.Second))
						assert.ErrorContains(t, err, "1 handlers or commands of earlier runs or undos are still running")
						assert.ErrorIs(t, err, context.DeadlineExceeded)
					}
					require.NoError(t, w.session.End(t.Context()))
					assert.Equal(t, runsFor, time.Since(start), "it waits until nothing of the session runs")
					w.requireNothingHeld()
					require.NoError(t, w.exec.Shutdown(t.Context()))
				})
			})
		}
	}
}

// TestEndWaitsForAReconcileHandler that did not return in time, so that the start went on without it.
// SEMANTICS 1.4.8
func TestEndWaitsForAReconcileHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		interrupted(t, &s, "a")
		start := time.Now()
		r := recovered(t, s.take(), transfer(never, func(context.Context, *runtime.Reconcile[readInput]) (*readOutput, error) {
			time.Sleep(runsFor)
			return nil, nil
		}))
		require.NoError(t, r.session().End(t.Context()))
		assert.Equal(t, runsFor, time.Since(start))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// requireNothingHeld requires that the session has no open run, and that no goroutine works for it.
func (w *waitingWorld) requireNothingHeld() {
	w.t.Helper()
	synctest.Wait()
	runs, working := w.session.Holds()
	assert.Zero(w.t, runs)
	assert.Zero(w.t, working)
	assert.NoError(w.t, w.session.End(within(w.t, time.Second)), "there is nothing to wait for")
}

// TestASessionHoldsNothingOfClosedRuns: whichever way a call goes, no goroutine is counted once it has ended, and a
// session has no part of a run that was closed.
// SEMANTICS 1.4.8
func TestASessionHoldsNothingOfClosedRuns(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		t.Run(fmt.Sprint("recorded: ", recorded), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := []engine.Option{engine.WithPendingRequests(), engine.WithMaxInFlight(1)}
				if recorded {
					opts = append(opts, engine.WithJournal(new(journal.Memory)))
				}
				slow := sleepy(runsFor, writes)
				tools := []*runtime.Tool{
					slow, readTool(okRead, named("ok")), readTool(okRead, asking(), named("asks")),
					readTool(func(context.Context, *readInput) (*readOutput, error) { panic("no") }, named("panics")),
					readTool(func(context.Context, *readInput) (*readOutput, error) { goruntime.Goexit(); return nil, nil }, named("exits")),
				}
				r := newRigWith(t, runtime.PolicyFunc(allowAll), tools, opts...)
				if recorded {
					r.recover()
				}
				s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
				for n := range 20 {
					run, err := s.StartRun(t.Context(), engine.RunConfig{})
					require.NoError(t, err)
					waysOfCalls(t, r, s, run, fmt.Sprint(n))
					require.NoError(t, run.Close(t.Context()))
				}
				synctest.Wait()
				runs, working := s.Holds()
				assert.Zero(t, runs)
				assert.Zero(t, working)
				require.NoError(t, r.exec.Shutdown(t.Context()))
			})
		})
	}
}

// waysOfCalls makes calls of a run that end in every way.
func waysOfCalls(t *testing.T, r *rig, s *engine.Session, run *engine.Run, n string) {
	turn := run.Turn(engine.TurnConfig{})
	do := func(id, tool, input string) runtime.Outcome {
		defer synctest.Wait() // the worker has left
		return turn.Execute(t.Context(), callOf(n+id, tool, input))
	}
	assert.Equal(t, runtime.Completed, do("ok", "ok", goodInput).Kind)
	assert.Equal(t, runtime.Completed, do("ok", "ok", goodInput).Kind, "it repeats the first")
	assert.Equal(t, runtime.ReasonCallIDReused, do("ok", "ok", `{"path":"b.md","limit":2}`).Reason)
	assert.Equal(t, runtime.ReasonUnknownTool, do("unknown", "gone", `{}`).Reason)
	assert.Equal(t, runtime.ReasonInvalidInput, do("invalid", "ok", `{`).Reason)
	assert.Equal(t, runtime.ReasonPanic, do("panics", "panics", goodInput).Reason)
	assert.Equal(t, runtime.ReasonPanic, do("exits", "exits", goodInput).Reason)
	assert.Equal(t, runtime.ReasonDeadline, do("late", "file_read", goodInput).Reason)
	assert.Equal(t, runtime.ReasonAtCapacity, do("full", "ok", goodInput).Reason, "the handler before is still running")
	assert.Equal(t, runtime.ReasonAtCapacity, turn.WhatIf(t.Context(), callOf(n+"dry", "ok", goodInput)).Outcome.Reason)
	time.Sleep(runsFor)
	synctest.Wait()
	assert.True(t, turn.WhatIf(t.Context(), callOf(n+"dry", "ok", goodInput)).Runs)
	synctest.Wait()
	assert.False(t, turn.WhatIf(t.Context(), callOf(n+"dry", "gone", goodInput)).Runs)
	for _, approve := range []bool{true, false} {
		id := fmt.Sprint("asks", approve)
		out := do(id, "asks", fmt.Sprintf(`{"path":%q,"limit":2}`, n+id))
		require.Equal(t, runtime.Pending, out.Kind, out.Message)
		answer := yes("alice")
		answer.Approve = approve
		require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), out.RequestID, answer).Kind)
		s.Await(t.Context(), n+id)
		synctest.Wait()
	}
	assert.Equal(t, runtime.Pending, do("left", "asks", fmt.Sprintf(`{"path":%q,"limit":2}`, n)).Kind)
	for _, out := range turn.ExecuteBatch(t.Context(), []runtime.Call{callOf(n+"b1", "ok", goodInput)}, engine.Parallel) {
		assert.Equal(t, runtime.Completed, out.Kind)
	}
	synctest.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	turn.Execute(ended, callOf(n+"cancelled", "ok", goodInput)) // it may have come too late
	synctest.Wait()
}
