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
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// retried declares that a tool is retried.
func retried(s *runtime.Spec) {
	s.Idempotent, s.SafeErrors = true, true
	s.Retry = &runtime.Retry{Max: 2, Initial: time.Second, Cap: 3 * time.Second, OnTimeout: true}
}

// SEMANTICS 4.4.1, 4.4.2, 6.2.1, 6.2.2, 6.2.3, 6.2.4, 8.1.5
func TestRetries(t *testing.T) {
	busy := runtime.Transient(errors.New("busy"))
	for name, c := range map[string]struct {
		change   func(*runtime.Spec)
		errs     []error
		attempts int
		kind     runtime.OutcomeKind
	}{
		"a resource":           {retried, []error{busy, nil}, 2, runtime.Completed},
		"at most max times":    {retried, []error{busy, busy, busy, nil}, 3, runtime.Failed},
		"no other error":       {retried, []error{errors.New("no"), nil}, 1, runtime.Failed},
		"not idempotent":       {func(s *runtime.Spec) { retried(s); s.Idempotent = false }, []error{busy, nil}, 1, runtime.Failed},
		"nothing was declared": {func(s *runtime.Spec) { s.Idempotent = true }, []error{busy, nil}, 1, runtime.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledgerOfWrites{}
				var seen []int
				r := transacting(t, new(journal.Memory), l, writeTool(l, func(ctx context.Context, in *readInput) (*readOutput, error) {
					info, _ := runtime.FromContext(ctx)
					seen = append(seen, info.Attempt)
					assert.Equal(t, []string{"a.md"}, l.stands, "what earlier attempts did was taken back")
					if err := c.errs[len(seen)-1]; err != nil {
						return nil, err
					}
					return okRead(ctx, in)
				}, c.change, func(s *runtime.Spec) { s.Rules.MaxCalls = 2 }))
				start := time.Now()
				run := r.run()
				out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
				assert.Equal(t, c.kind, out.Kind, out.Message)
				assert.Len(t, seen, c.attempts)
				assert.Equal(t, c.attempts, seen[len(seen)-1])
				waited := time.Since(start)
				assert.GreaterOrEqual(t, waited, time.Duration(c.attempts-1)*500*time.Millisecond)
				assert.LessOrEqual(t, waited, time.Duration(c.attempts-1)*3*time.Second)
				assert.Equal(t, map[string]int{"file_read": 1}, run.Status().Invocations, "one slot")
				kinds := r.kinds("c1")[4:]
				for range c.attempts - 1 {
					assert.Equal(t, "tool.retrying", kinds[0])
					kinds = kinds[1:]
				}
				require.NoError(t, r.exec.Shutdown(t.Context()))
			})
		})
	}
}

// SEMANTICS 6.2.1, 6.2.2
func TestRetryOfTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		var late error
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			if attempts++; attempts == 1 {
				<-ctx.Done()
				time.Sleep(2 * time.Second) // within its grace
				late = runtime.Commit(ctx, func() error { return nil })
				go func() { // a goroutine of the first attempt, during the second
					time.Sleep(4 * time.Second)
					assert.ErrorIs(t, runtime.Commit(ctx, func() error { panic("it was let in") }), runtime.ErrFenced)
				}()
				return okRead(ctx, in)
			}
			assert.NoError(t, ctx.Err())
			time.Sleep(4 * time.Second)
			require.NoError(t, runtime.Commit(ctx, func() error { return nil }))
			return okRead(ctx, in)
		}, retried))
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Completed, out.Kind, out.Message)
		assert.Equal(t, 2, attempts)
		assert.ErrorIs(t, late, runtime.ErrFenced)
		time.Sleep(time.Minute)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestTimeoutWhoseHandlerHangs ends the call when its grace is over.
// SEMANTICS 6.2.2, 8.1.8
func TestTimeoutWhoseHandlerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			<-release
			return okRead(ctx, in)
		}, retried))
		start := time.Now()
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, 10*time.Second, time.Since(start), "the deadline and the grace")
		close(release)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestRetriesStayInTheTurn: the turn's budget bounds all attempts of the call together.
// SEMANTICS 6.1.2
func TestRetriesStayInTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		r := newRig(t, readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
			attempts++
			<-ctx.Done()
			return nil, ctx.Err()
		}, retried))
		start := time.Now()
		out := r.run().Turn(engine.TurnConfig{Budget: 9 * time.Second}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, 1, attempts)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestCancelledWhileItWaitsToBeRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
			return nil, runtime.Transient(errors.New("busy"))
		}, retried))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		out := r.turn().Execute(ctx, callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestRetryAfterARestart runs an idempotent call again, if the policy still allows it.
// SEMANTICS 6.2.4, 6.2.5, 6.7.2
func TestRetryAfterARestart(t *testing.T) {
	for name, c := range map[string]struct {
		effect runtime.Effect
		max    int
		kind   runtime.OutcomeKind
	}{
		"it may run":          {runtime.EffectAllow, 2, runtime.Completed},
		"it may not any more": {runtime.EffectDeny, 2, runtime.Unknown},
		"it would be asked":   {runtime.EffectAsk, 2, runtime.Unknown},
		"no attempts left":    {runtime.EffectAllow, 0, runtime.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			change := func(s *runtime.Spec) { writes(s); retried(s); s.Retry.Max = c.max; s.Rules.MaxCalls = 1 }
			j := &broken{left: 2}
			r := transacting(t, j, &ledgerOfWrites{}, readTool(okRead, change))
			require.Equal(t, runtime.Unknown, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)

			attempt := 0
			r = newRigWith(t, decide(runtime.Decision{Effect: c.effect}), []*runtime.Tool{readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
				info, _ := runtime.FromContext(ctx)
				attempt = info.Attempt
				return okRead(ctx, in)
			}, change)}, engine.WithJournal(&j.Memory), engine.WithPendingRequests())
			r.recover()
			s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			out := s.Await(t.Context(), "c1")
			assert.Equal(t, c.kind, out.Kind, out.Message)
			if c.kind == runtime.Completed {
				assert.Equal(t, 2, attempt)
				assert.Equal(t, []string{"tool.orphaned", "tool.retrying", "tool.completed"}, r.kinds("c1"))
			} else {
				assert.Zero(t, attempt)
				assert.Equal(t, []string{"tool.orphaned", "tool.unknown"}, r.kinds("c1"))
			}
			run, _ := s.Run("r")
			assert.Equal(t, map[string]int{"file_read": 1}, run.Status().Invocations)
			require.NoError(t, r.exec.Shutdown(t.Context()))
		})
	}
}

// TestLateHandlersAreRunAgainWhereDeclared lets a handler return at its deadline,
// before the timer of the call: it was late, and is run again only with on_timeout.
func TestLateHandlersAreRunAgainWhereDeclared(t *testing.T) {
	for onTimeout, want := range map[bool]int{false: 1, true: 3} {
		clock, release, attempts := simulated.NewClock(), make(chan struct{}), 0
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			if attempts++; attempts == 1 {
				clock.Busy(-1)
				<-release
				return okRead(ctx, in)
			}
			clock.Sleep(4 * time.Second)
			return okRead(ctx, in)
		}, retried, func(s *runtime.Spec) { s.Deadline, s.Retry.OnTimeout = 3*time.Second, onTimeout })}, engine.WithClock(clock), engine.WithPolicyTimeout(time.Hour))
		var out runtime.Outcome
		done := make(chan struct{})
		clock.Busy(1)
		go func() {
			defer close(done)
			defer clock.Busy(-1)
			out = r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		}()
		require.NoError(t, clock.Rest())
		require.NoError(t, clock.Reach(clock.Now().Add(3*time.Second)))
		clock.Busy(1)
		close(release)
		require.NoError(t, clock.Advance(time.Minute))
		<-done
		assert.Equal(t, runtime.TimedOut, out.Kind, out.Message)
		assert.Equal(t, want, attempts, "on_timeout: %v", onTimeout)
	}
}
