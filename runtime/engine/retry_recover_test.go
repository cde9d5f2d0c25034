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
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestAttemptsAreCountedOverRestarts lets the process die in every attempt.
// SEMANTICS 4.4.2
func TestAttemptsAreCountedOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		never, ran := make(chan struct{}), 0
		die := func(context.Context, *readInput) (*readOutput, error) {
			ran++
			<-never
			return nil, context.Canceled
		}
		twice := func(s *runtime.Spec) { writes(s); s.Idempotent, s.Retry = true, &runtime.Retry{Max: 2} }
		turn := recovered(t, &j, readTool(die, twice)).turn()
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		for i := range 2 {
			assert.Equal(t, i+1, ran)
			recovered(t, &j, readTool(die, twice))
			synctest.Wait()
		}
		r := recovered(t, &j, readTool(die, twice))
		assert.Equal(t, runtime.Unknown, r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), "c1").Kind)
		assert.Equal(t, 3, ran, "once, and twice more")
		close(never)
	})
}

// TestRetryAfterARestartStaysInTheTurn: the budget of the turn bounds the call in every
// process.
// SEMANTICS 6.1.2
func TestRetryAfterARestartStaysInTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		down time.Duration
		ran  int
	}{"in time": {40 * time.Second, 2}, "too late": {56 * time.Second, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				never, ran, left := make(chan struct{}), 0, time.Duration(0)
				die := func(ctx context.Context, _ *readInput) (*readOutput, error) {
					info, _ := runtime.FromContext(ctx)
					left = info.Remaining()
					ran++
					<-never
					return nil, context.Canceled
				}
				twice := func(s *runtime.Spec) {
					writes(s)
					s.Idempotent, s.Retry, s.Deadline = true, &runtime.Retry{Max: 2}, time.Hour
				}
				turn := recovered(t, &j, readTool(die, twice)).run().Turn(engine.TurnConfig{Budget: time.Minute})
				go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
				synctest.Wait()
				require.Equal(t, time.Minute, left)
				time.Sleep(c.down)
				r := recovered(t, &j, readTool(die, twice))
				synctest.Wait()
				assert.Equal(t, c.ran, ran)
				if ran == 2 {
					assert.Equal(t, time.Minute-c.down, left)
				} else {
					assert.Equal(t, runtime.Unknown, r.session().Await(t.Context(), "c1").Kind)
				}
				close(never)
				synctest.Wait()
			})
		})
	}
}
