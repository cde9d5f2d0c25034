package engine_test

import (
	"context"
	"errors"
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

// within returns a context that ends after d.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// endings returns tools that each stop in a different way when they are canceled. Those
// that wait for release ignore their context until it is closed.
func endings(begun chan<- string, release <-chan struct{}) []*runtime.Tool {
	ending := func(name string, end func(ctx context.Context) error) *runtime.Tool {
		return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			begun <- name
			if err := end(ctx); err != nil {
				return nil, err
			}
			return okRead(ctx, in)
		}, named(name), func(s *runtime.Spec) { s.Deadline, s.Effect = time.Hour, runtime.SideEffectWrite })
	}
	return []*runtime.Tool{
		ending("deaf", func(context.Context) error { <-release; return nil }),
		ending("late", func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return nil }),
		ending("broken", func(ctx context.Context) error { <-ctx.Done(); return errors.New("disk full") }),
		obedient(begun, named("obedient")),
		obedient(begun, named("one"), func(s *runtime.Spec) { s.Limits.Concurrency = 1 }),
		sleepy(3*time.Second, named("short")),
		readTool(okRead, named("ask"), asking()),
	}
}

// TestShutdownAborts shuts down while calls are in every phase, and continues the
// journal afterwards.
// SEMANTICS 6.9.5, 6.9.6
func TestShutdownAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(shared)
		release := make(chan struct{})
		tools := endings(make(chan string, 9), release)
		r := recovered(t, j.take(), tools...)
		run := r.run()
		turn, patient := run.Turn(engine.TurnConfig{}), run.Turn(engine.TurnConfig{ConsentWait: time.Hour})
		outs := map[string]<-chan runtime.Outcome{"ask": told(patient, callOf("ask", "ask", goodInput))}
		for _, tool := range []string{"deaf", "late", "broken", "obedient", "one", "short"} {
			outs[tool] = told(turn, callOf(tool, tool, goodInput))
			synctest.Wait()
		}
		outs["queued"] = told(turn, callOf("queued", "one", goodInput))
		synctest.Wait()
		began := time.Now()
		err := r.exec.Shutdown(within(t, 4*time.Second))
		assert.ErrorContains(t, err, "1 calls are still running: context deadline exceeded")
		assert.Equal(t, 9*time.Second, time.Since(began), "grace, and five seconds more")
		ended := map[string]runtime.Outcome{}
		got := map[string]string{}
		for name, out := range outs {
			ended[name] = <-out
			got[name] = ended[name].Kind.String() + " " + ended[name].Reason.String()
		}
		assert.Equal(t, map[string]string{
			"ask": "pending consent_required", "short": "completed ", "deaf": "unknown interrupted", "late": "completed ",
			"broken": "failed handler_error", "obedient": "cancelled cancelled", "one": "cancelled cancelled",
			"queued": "denied shutting_down",
		}, got)
		assert.Contains(t, ended["obedient"].Message, "the executor was shut down; it may still have taken effect")
		unfinished, err := j.Unfinished(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, []journal.CallKey{{Session: "s", Call: "ask"}, {Session: "s", Call: "deaf"}}, unfinished)
		close(release)
		r.shutAgain(turn, ended["ask"].RequestID)
		continued(t, recovered(t, j.take(), tools...), ended)
	})
}

// shutAgain shuts down an executor that was shut down before, and checks that it does
// no work any more.
func (r *rig) shutAgain(turn *engine.Turn, request string) {
	t := r.t
	require.NoError(t, r.exec.Shutdown(t.Context()), "once more")
	assert.Equal(t, "tool.started", r.kinds("deaf")[len(r.kinds("deaf"))-1])
	assert.Equal(t, runtime.ReasonShuttingDown, turn.Execute(t.Context(), callOf("x", "late", goodInput)).Reason)
	assert.Equal(t, runtime.ResolutionRejected, r.exec.Decide(t.Context(), request, yes("alice")).Kind)
	for _, f := range r.allFaults() {
		assert.NotContains(t, f.Error(), "bug in the runtime")
	}
}

// continued checks that the next executor has the same outcomes, and that a request can
// be answered there.
func continued(t *testing.T, next *rig, ended map[string]runtime.Outcome) {
	ses := next.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	for name, out := range ended {
		if name != "ask" {
			assert.Equal(t, out.Kind, ses.Await(t.Context(), name).Kind, name)
		}
	}
	res := next.exec.Decide(t.Context(), ended["ask"].RequestID, yes("alice"))
	assert.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind)
	require.NoError(t, next.exec.Shutdown(t.Context()))
}

// TestShutdownsAreBounded: a later Shutdown ends the grace of an earlier one, which then returns too, and none
// waits for a handler that never returns.
//
// SEMANTICS 6.9.7
func TestShutdownsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, begun := make(chan struct{}), make(chan string, 1)
		r := newRig(t, endings(begun, release)[0])
		told(r.turn(), callOf("c1", "deaf", goodInput))
		<-begun
		at := time.Now()
		first := make(chan error, 1)
		go func() { first <- r.exec.Shutdown(context.Background()) }()
		synctest.Wait()
		over, end := context.WithCancel(t.Context())
		end()
		require.ErrorContains(t, r.exec.Shutdown(over), "1 calls are still running: context canceled")
		require.ErrorContains(t, <-first, "1 calls are still running: an earlier shutdown has given them up")
		assert.Equal(t, 5*time.Second, time.Since(at))
		require.ErrorContains(t, r.exec.Shutdown(context.Background()), "1 calls are still running")
		assert.Equal(t, 12*time.Second, time.Since(at))
		close(release)
		synctest.Wait()
		require.NoError(t, r.exec.Shutdown(context.Background()))
	})
}

// TestShutdownWhileACallIsJudged: a handler that was not started is not started later.
func TestShutdownWhileACallIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judging := make(chan struct{})
		policy := runtime.PolicyFunc(func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
			close(judging)
			<-ctx.Done()
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)}, engine.WithPolicyTimeout(time.Hour))
		out := told(r.turn(), callOf("c1", "file_read", goodInput))
		<-judging
		require.NoError(t, r.exec.Shutdown(within(t, time.Second)))
		got := <-out
		assert.Equal(t, runtime.Denied, got.Kind)
		assert.Equal(t, runtime.ReasonShuttingDown, got.Reason)
		assert.NotContains(t, r.kinds("c1"), "tool.started")
	})
}

// TestShutdownAnswersWhoAwaits: no caller still waits for a pending call.
func TestShutdownAnswersWhoAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests())
		ses := r.exec.Session(engine.SessionConfig{Principal: "agent"})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		pending := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		require.Equal(t, runtime.Pending, pending.Kind)
		out := make(chan runtime.Outcome, 1)
		go func() { out <- ses.Await(context.Background(), "c1") }()
		synctest.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, runtime.Pending, (<-out).Kind)
		time.Sleep(2 * time.Hour)
		assert.NotContains(t, r.kinds("c1"), "tool.denied", "it does not expire here")
	})
}

// TestShutdownEndsRetries: no handler is run again, and what was done is rolled back.
func TestShutdownEndsRetries(t *testing.T) {
	for name, run := range map[string]func(begun chan<- string) readFunc{
		"it waits": func(begun chan<- string) readFunc {
			return func(context.Context, *readInput) (*readOutput, error) {
				begun <- "once"
				return nil, runtime.Transient(errors.New("busy"))
			}
		},
		"it runs": func(begun chan<- string) readFunc {
			return func(ctx context.Context, _ *readInput) (*readOutput, error) {
				begun <- "once"
				<-ctx.Done()
				return nil, runtime.Transient(ctx.Err())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledgerOfWrites{}
				begun := make(chan string, 9)
				r := transacting(t, new(journal.Memory), l, writeTool(l, run(begun), retried, func(s *runtime.Spec) {
					s.Retry.Initial, s.Retry.Cap, s.Deadline = 30*time.Minute, 30*time.Minute, 2*time.Hour // the wait fits into an hour
				}))
				out := told(r.turn(), callOf("c1", "file_read", goodInput))
				<-begun
				synctest.Wait()
				began := time.Now()
				require.NoError(t, r.exec.Shutdown(within(t, time.Second)))
				assert.Equal(t, time.Second, time.Since(began))
				got := <-out
				assert.Equal(t, runtime.Cancelled, got.Kind)
				assert.Equal(t, name == "it runs", got.RolledBack, "else it was taken back before")
				assert.Empty(t, begun)
				assert.Empty(t, l.stands)
			})
		})
	}
}

// TestParticipantsOfALostLease are left to the next owner, which may already use them.
func TestParticipantsOfALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		l := &ledgerOfWrites{}
		begun := make(chan string, 1)
		r := transacting(t, s.take(), l, writeTool(l, func(ctx context.Context, _ *readInput) (*readOutput, error) {
			begun <- "once"
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(s *runtime.Spec) { s.Deadline = time.Hour }))
		out := told(r.turn(), callOf("c1", "file_read", goodInput))
		<-begun
		s.take()
		assert.Equal(t, runtime.ReasonLeaseLost, (<-out).Reason)
		assert.Equal(t, []string{"a.md"}, l.stands)
		require.Error(t, r.exec.Shutdown(t.Context()))

		next := transacting(t, s.take(), l, writeTool(l, okRead))
		assert.Empty(t, l.stands)
		got := next.session().Await(t.Context(), "c1")
		assert.Equal(t, runtime.Failed, got.Kind)
		assert.True(t, got.RolledBack)
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// TestShutdownWaitsForUndo: what an undo does must be recorded.
func TestShutdownWaitsForUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(journal.Memory)
		tool := func() *runtime.Tool {
			spec := &runtime.Spec{Name: "file_read", Undo: &runtime.UndoSpec{}}
			return runtime.NewTool(spec, &readInputRule, okRead, runtime.WithUndo(&readInputRule, &readOutputRule,
				func(_ context.Context, in *readInput) (*readInput, error) { return in, nil },
				func(context.Context, *runtime.Undo[readInput, readInput, readOutput]) error {
					time.Sleep(3 * time.Second)
					return nil
				}))
		}
		r := recovered(t, j, tool())
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		undone := make(chan undoing, 1)
		ses := r.session()
		go func() {
			undone <- undoingOf(ses.Undo(context.Background(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")}))
		}()
		synctest.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, undoOK, (<-undone).Kind)
		r = recovered(t, j, tool())
		assert.Equal(t, action.CodeAlreadyUndone, undoingOf(r.session().Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")})).Reason)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, action.CodeJournalUnavailable, undoingOf(r.session().Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")})).Reason)
	})
}
