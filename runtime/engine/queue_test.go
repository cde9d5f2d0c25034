package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

// TestADuplicateOfACallWithoutAnOutcome is told that nothing is known yet of the call that it repeats.
// SEMANTICS 4.8.13
func TestADuplicateOfACallWithoutAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		r := newRig(t, blocked(free, func(s *runtime.Spec) { s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeAlways} }))
		turn := r.run().Turn(engine.TurnConfig{})
		first := told(turn, callOf("c1", "file_read", goodInput))
		synctest.Wait()
		out := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, []any{runtime.Duplicate, "c1"}, []any{out.Kind, out.Of})
		assert.Equal(t, `an equal call was made before, and has no outcome yet: "c1" may still fail. Do not take it for done`, out.Message)
		close(free)
		require.Equal(t, runtime.Completed, (<-first).Kind)
		out = turn.Execute(t.Context(), callOf("c3", "file_read", goodInput))
		assert.Equal(t, `an equal call was made before: "c1"`, out.Message)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestACallThatFoundNoRoomIsMadeAgain: a call that was denied because it got no slot, or because the executor shut down,
// never ran. The same call is judged anew under its id: while its record is in memory, when it is held by reference, and
// after a restart. Until there is room it is denied again.
// SEMANTICS 1.4.10
func TestACallThatFoundNoRoomIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(shared)
		var free chan struct{}
		ran := map[string]int{}
		slow := func(ctx context.Context, in *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			ran[info.ID]++
			if strings.HasPrefix(info.ID, "busy") {
				<-free
			}
			return okRead(ctx, in)
		}
		tools := []*runtime.Tool{
			readTool(slow, func(s *runtime.Spec) { s.Limits.Concurrency = 1 }), readTool(okRead, named("other")),
		}
		r := recovered(t, j.take(), tools...)
		run := func(r *rig) *engine.Run {
			s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			if run, ok := s.Run("r"); ok {
				return run
			}
			run, err := s.StartRun(t.Context(), engine.RunConfig{ID: "r"})
			require.NoError(t, err)
			return run
		}
		turn := func(r *rig) *engine.Turn { return run(r).Turn(engine.TurnConfig{}) }
		do := func(r *rig, id string) runtime.Outcome {
			return turn(r).Execute(t.Context(), callOf(id, "file_read", goodInput))
		}
		busy := func(r *rig, id string) {
			free = make(chan struct{})
			require.Equal(t, runtime.TimedOut, do(r, id).Kind)
		}
		busy(r, "busy1")
		for range 2 {
			out := do(r, "c1")
			require.Equal(t, []any{runtime.Denied, runtime.ReasonAtCapacity}, []any{out.Kind, out.Reason}, out.Message)
		}
		for _, id := range []string{"c2", "c3", "c4"} {
			require.Equal(t, runtime.ReasonAtCapacity, do(r, id).Reason)
		}
		close(free)
		synctest.Wait()
		assert.Equal(t, runtime.ReasonAtCapacity, run(r).Session().Await(t.Context(), "c1").Reason, "until it is made again")
		var wg sync.WaitGroup
		for range 3 { // one of them makes the call, the others share its outcome
			wg.Go(func() { assert.Equal(t, runtime.Completed, do(r, "c1").Kind) })
		}
		wg.Wait()
		assert.Equal(t, runtime.Completed, do(r, "c1").Kind, "and then it is the outcome of the id")
		other := turn(r).Execute(t.Context(), callOf("c2", "file_read", `{"path":"b.txt"}`))
		assert.Equal(t, runtime.ReasonCallIDReused, other.Reason, "another call needs an id of its own")
		for i := range 30 { // until c2 is held by reference
			require.Equal(t, runtime.Completed, turn(r).Execute(t.Context(), callOf(fmt.Sprint("o", i), "other", goodInput)).Kind)
		}
		for range 3 {
			wg.Go(func() { assert.Equal(t, runtime.Completed, do(r, "c2").Kind) })
		}
		wg.Wait()

		free = make(chan struct{})
		running := told(turn(r), callOf("busy2", "file_read", goodInput))
		synctest.Wait()
		queued := told(turn(r), callOf("c5", "file_read", goodInput))
		synctest.Wait()
		shut := make(chan error, 1)
		go func() { shut <- r.exec.Shutdown(within(t, time.Second)) }()
		assert.Equal(t, runtime.ReasonShuttingDown, (<-queued).Reason)
		close(free)
		<-running
		require.NoError(t, <-shut)

		for life, want := range []map[string]int{{"c1": 1, "c2": 1, "c3": 1, "c4": 0, "c5": 1}, {"c1": 1, "c2": 1, "c3": 1, "c4": 1, "c5": 1}} {
			r = recovered(t, j.take(), tools...)
			for _, id := range []string{"c1", "c2", "c3", "c5", "c4"}[:4+life] {
				require.Equal(t, runtime.Completed, do(r, id).Kind, id)
			}
			for id, n := range want {
				assert.Equal(t, n, ran[id], "%s in life %d", id, life)
			}
			require.NoError(t, r.exec.Shutdown(t.Context()))
		}
	})
}
