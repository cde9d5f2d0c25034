package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestQueueBehindAHandlerThatHangs has no budget that would end the wait.
// SEMANTICS 6.3.1
func TestQueueBehindAHandlerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			<-release
			return okRead(ctx, in)
		}, func(s *runtime.Spec) { s.Limits.Concurrency = 1 }))
		run := r.run()
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		require.Equal(t, runtime.TimedOut, out.Kind)

		start := time.Now()
		out = run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonAtCapacity, out.Reason)
		assert.Equal(t, 5*time.Second, time.Since(start), "as long as a handler may take")
		assert.Equal(t, `"file_read" is busy: its only slot did not get free in time`, out.Message)
		close(release)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestNoStartAfterTheBudget has a policy that returns when the turn is over: the timer
// of the call and its worker race, and neither starts the handler.
// SEMANTICS 6.3.2
func TestNoStartAfterTheBudget(t *testing.T) {
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			r := newRigWith(t, runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
				time.Sleep(3 * time.Millisecond)
				return allowAll(ctx, in)
			}), []*runtime.Tool{readTool(func(context.Context, *readInput) (*readOutput, error) {
				t.Error("started")
				return nil, nil
			})}, engine.WithMinimumBudget(0))
			turn := r.run().Turn(engine.TurnConfig{Budget: 2 * time.Millisecond})
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.ReasonDeadline, out.Reason)
			assert.Equal(t, runtime.Denied, out.Kind)
		})
	}
}
