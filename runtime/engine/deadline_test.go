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
	"github.com/ambit-tools/ambit/runtime/engine"
)

// SEMANTICS 2.1.5, 2.2.2, 6.1.3, 6.1.6, 6.1.7
func TestHandlerIgnoresItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrote := false
		var late error
		ended := make(chan struct{})
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			defer close(ended)
			info, _ := runtime.FromContext(ctx)
			assert.Equal(t, 5*time.Second, info.Remaining())
			time.Sleep(8 * time.Second)
			assert.Zero(t, info.Remaining())
			assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			late = runtime.Commit(ctx, func() error { wrote = true; return nil })
			return okRead(ctx, in)
		}, func(s *runtime.Spec) { s.Effect = runtime.SideEffectWrite }))
		turn := r.turn()
		start := time.Now()
		out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, 5*time.Second, time.Since(start), "exactly at the deadline")
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, runtime.ReasonDeadline, out.Reason)
		assert.Equal(t, 5*time.Second, out.Duration)
		assert.Equal(t, 5*time.Second, out.Detail.Deadline)
		assert.False(t, out.Retryable)
		assert.Equal(t, `"file_read" did not finish within 5s; it may still have taken effect`, out.Message)

		blocked := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonBlockedAfterTimeout, blocked.Reason)

		<-ended
		synctest.Wait()
		assert.ErrorIs(t, late, runtime.ErrFenced)
		assert.False(t, wrote)
		assert.Equal(t, []string{
			"tool.invoked", "tool.validated", "tool.authorized", "tool.started", "tool.aborted", "tool.late_result",
		}, r.kinds("c1"))
		again := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, out, again, "the late result is never an outcome")
	})
}

// TestOnlyAnswersComeBeforeTheBlock repeats a call that timed out, in its turn: the
// answer names the first call, and not the next turn.
// SEMANTICS 3.1.2
func TestOnlyAnswersComeBeforeTheBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(5*time.Second+1, func(s *runtime.Spec) {
			s.Dedupe.Mode = runtime.DedupeAlways
			s.Rules.AllowedOperations = &runtime.AllowedOperations{Arg: "path", Values: []string{"a.md", "b.md"}}
		}))
		turn := r.turn()
		first := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		require.Equal(t, runtime.TimedOut, first.Kind)
		again := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.Duplicate, again.Kind)
		assert.Equal(t, "c1", again.Of)
		assert.Equal(t, []string{"tool.invoked", "tool.validated", "tool.denied"}, r.kinds("c2"))
		reason := func(input string) runtime.Reason {
			what := turn.WhatIf(t.Context(), callOf("", "file_read", input)).Outcome
			out := turn.Execute(t.Context(), callOf("", "file_read", input))
			assert.Equal(t, what.Reason, out.Reason)
			assert.Len(t, out.AllReasons, 1)
			return out.Reason
		}
		assert.Equal(t, runtime.ReasonOperationNotAllowed, reason(`{"path":"c.md","limit":2}`))
		assert.Equal(t, runtime.ReasonBlockedAfterTimeout, reason(`{"path":"b.md","limit":2}`))
		time.Sleep(time.Second)
	})
}

// SEMANTICS 1.1.3
func TestRetryableTimeoutDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(s *runtime.Spec) {
			s.Idempotent, s.Retry = true, &runtime.Retry{Max: 3, OnTimeout: true}
		}))
		turn := r.turn()
		for _, id := range []string{"c1", "c2"} {
			out := turn.Execute(t.Context(), callOf(id, "file_read", goodInput))
			assert.Equal(t, runtime.TimedOut, out.Kind)
			assert.True(t, out.Retryable)
			assert.NotContains(t, out.Message, "effect", "a reader has none")
		}
	})
}

// SEMANTICS 1.1.3, 3.4.1, 3.4.2
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(s *runtime.Spec) { s.Deadline = time.Minute }))
		run := r.run()

		turn := run.Turn(engine.TurnConfig{Budget: 10 * time.Second})
		time.Sleep(3 * time.Second)
		start := time.Now()
		out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, 7*time.Second, time.Since(start), "what is left of the budget")

		turn = run.Turn(engine.TurnConfig{Budget: 10 * time.Second})
		time.Sleep(6 * time.Second)
		out = turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonDeadline, out.Reason)
		assert.Equal(t, runtime.Denied, out.Kind)
		assert.Equal(t, 4*time.Second, out.Detail.Deadline)
		assert.Equal(t, []string{"tool.invoked", "tool.validated", "tool.denied"}, r.kinds("c2"))

		out = run.Turn(engine.TurnConfig{Budget: -1}).Execute(t.Context(), callOf("c3", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonDeadline, out.Reason)

		start = time.Now()
		out = run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c4", "file_read", goodInput))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, time.Minute, time.Since(start), "without a budget the tool's deadline counts")
		assert.Equal(t, 2, run.Status().Invocations["file_read"], "refused calls use up nothing")
	})
}

func TestCancelledBeforeAndDuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			ran++
			<-ctx.Done()
			assert.ErrorIs(t, ctx.Err(), context.Canceled)
			return nil, ctx.Err()
		}, func(s *runtime.Spec) { s.Effect = runtime.SideEffectWrite }))
		turn := r.turn()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out := turn.Execute(ctx, callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		assert.Equal(t, runtime.ReasonCancelled, out.Reason)
		assert.Zero(t, ran)
		assert.Equal(t, "the call was cancelled", out.Message)

		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		out = turn.Execute(ctx, callOf("c2", "file_read", goodInput))
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		assert.Equal(t, 1, ran)
		assert.Contains(t, out.Message, "may still have taken effect")
		synctest.Wait()
		assert.Equal(t, "tool.late_result", r.kinds("c2")[5])
	})
}

func TestLateFaultsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t,
			readTool(func(context.Context, *readInput) (*readOutput, error) { time.Sleep(time.Minute); panic("too late") }),
			readTool(func(context.Context, *readInput) (*readOutput, error) {
				time.Sleep(time.Minute)
				return nil, errors.New("too late")
			}, named("other")))
		turn := r.turn()
		turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		turn.Execute(t.Context(), callOf("c2", "other", goodInput))
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Len(t, r.allFaults(), 2)
		late := 0
		for _, e := range r.sink.Events()[10:] {
			if e.Kind == runtime.EventLateResult {
				assert.Contains(t, e.Err, "too late")
				late++
			}
		}
		assert.Equal(t, 2, late)
	})
}

// SEMANTICS 8.1.8
func TestWriteThatOutlivesItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commit := func(d time.Duration) readFunc {
			return func(ctx context.Context, in *readInput) (*readOutput, error) {
				err := runtime.Commit(ctx, func() error { time.Sleep(d); return nil })
				assert.NoError(t, err)
				return okRead(ctx, in)
			}
		}
		r := newRig(t, readTool(commit(7*time.Second)), readTool(commit(time.Hour), named("slow")))
		turn := r.turn()
		start := time.Now()
		out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, 7*time.Second, time.Since(start), "the outcome waits for a write that has begun")
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.False(t, out.Detail.Writing)

		start = time.Now()
		out = turn.Execute(t.Context(), callOf("c2", "slow", goodInput))
		assert.Equal(t, 10*time.Second, time.Since(start), "but not for ever")
		assert.True(t, out.Detail.Writing)
		assert.Contains(t, out.Message, "has not ended")
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// SEMANTICS 6.1.5
func TestNoCommitAfterTheOutcome(t *testing.T) {
	var later context.Context
	r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		later = ctx
		return okRead(ctx, in)
	}))
	r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	wrote := func() error { t.Error("wrote"); return nil }
	assert.ErrorIs(t, runtime.Commit(later, wrote), runtime.ErrFenced)
	assert.ErrorIs(t, runtime.Commit(t.Context(), wrote), runtime.ErrNoCall)
	assert.Error(t, later.Err())
	<-later.Done()
}

func TestDerivedContextsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			child, cancel := context.WithCancel(ctx)
			go func() {
				defer cancel()
				<-child.Done()
				ended <- context.Cause(child)
			}()
			return okRead(ctx, in)
		}))
		r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.ErrorIs(t, <-ended, context.Canceled)
	})
}
