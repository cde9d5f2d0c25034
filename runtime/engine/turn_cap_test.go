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

// TestCapBoundsEveryAttempt: each attempt has the cap of its turn if its tool declares
// more.
// SEMANTICS 6.1.1
func TestCapBoundsEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var had []time.Duration
		r := newRig(t, readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			had = append(had, info.Remaining())
			<-ctx.Done()
			return nil, ctx.Err()
		}, retried))
		out := r.run().Turn(engine.TurnConfig{Cap: 2 * time.Second}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, 2*time.Second, out.Detail.Deadline)
		assert.Equal(t, []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}, had)
	})
}

// TestCapOnEveryPath: the cap bounds the attempts of calls that wait for a batch, a
// slot or nothing, and of a call without a caller.
// SEMANTICS 6.1.1
func TestCapOnEveryPath(t *testing.T) {
	for name, execute := range map[string]func(*engine.Turn){
		"alone":    func(turn *engine.Turn) { turn.Execute(context.Background(), callOf("c1", "file_read", goodInput)) },
		"trigger":  func(turn *engine.Turn) { turn.StartCall(callOf("c1", "file_read", goodInput)) },
		"parallel": func(turn *engine.Turn) { batch(turn, engine.Parallel) },
		"serial":   func(turn *engine.Turn) { batch(turn, engine.Sequential) },
	} {
		for _, concurrency := range []int{0, 1} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					had := make(chan time.Duration, 2)
					r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
						info, _ := runtime.FromContext(ctx)
						had <- info.Remaining()
						time.Sleep(time.Second)
						return okRead(ctx, in)
					}, func(s *runtime.Spec) { s.Limits.Concurrency = concurrency }))
					execute(r.run().Turn(engine.TurnConfig{Cap: 2 * time.Second, Budget: time.Minute}))
					synctest.Wait()
					assert.Equal(t, 2*time.Second, <-had)
					require.NoError(t, r.exec.Shutdown(t.Context()))
				})
			})
		}
	}
}

func batch(turn *engine.Turn, mode engine.BatchMode) {
	turn.ExecuteBatch(context.Background(), []runtime.Call{
		callOf("c1", "file_read", goodInput), callOf("c2", "file_read", goodInput),
	}, mode)
}

// TestCapGivesNoTime: a cap above the tool's deadline changes nothing, a cap below zero
// denies all calls, and the turn's budget still bounds the call.
func TestCapGivesNoTime(t *testing.T) {
	for name, c := range map[string]struct {
		turn engine.TurnConfig
		has  time.Duration
	}{
		"longer":   {engine.TurnConfig{Cap: time.Hour}, 5 * time.Second},
		"none":     {engine.TurnConfig{}, 5 * time.Second},
		"a budget": {engine.TurnConfig{Cap: time.Hour, Budget: 5*time.Second + 1}, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var had time.Duration
				r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
					info, _ := runtime.FromContext(ctx)
					had = info.Remaining()
					return okRead(ctx, in)
				}))
				out := r.run().Turn(c.turn).Execute(t.Context(), callOf("c1", "file_read", goodInput))
				assert.Equal(t, runtime.Completed, out.Kind, out.Message)
				assert.Equal(t, c.has, had)
				require.NoError(t, r.exec.Shutdown(t.Context()))
			})
		})
	}
	r := newRig(t, readTool(okRead))
	out := r.run().Turn(engine.TurnConfig{Cap: -1}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonDeadline, out.Reason)
}

// TestCapAfterARestart: the cap bounds the attempts of the next process too.
// SEMANTICS 6.1.1
func TestCapAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		never := make(chan struct{})
		var had []time.Duration
		die := func(ctx context.Context, _ *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			had = append(had, info.Remaining())
			<-never
			return nil, context.Canceled
		}
		twice := func(s *runtime.Spec) { s.Idempotent, s.Retry, s.Deadline = true, &runtime.Retry{Max: 2}, time.Hour }
		turn := recovered(t, &j, readTool(die, twice)).run().Turn(engine.TurnConfig{Cap: time.Minute})
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		recovered(t, &j, readTool(die, twice))
		synctest.Wait()
		assert.Equal(t, []time.Duration{time.Minute, time.Minute}, had)
		close(never)
		synctest.Wait()
	})
}
