package engine_test

import (
	"context"
	"fmt"
	stdruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// sleepy returns a tool that takes d and ignores its context.
func sleepy(d time.Duration, change ...func(*runtime.Spec)) *runtime.Tool {
	return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		time.Sleep(d)
		return okRead(ctx, in)
	}, change...)
}

// SEMANTICS 1.4.1, 1.4.2, 1.4.3
func TestCallIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			ran++
			time.Sleep(time.Second)
			return okRead(ctx, in)
		}))
		run := r.run()
		turn := run.Turn(engine.TurnConfig{})
		var wg sync.WaitGroup
		outs := make([]runtime.Outcome, 3)
		for i := range outs {
			wg.Go(func() { outs[i] = turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)) })
		}
		wg.Wait()
		assert.Equal(t, 1, ran)
		assert.Equal(t, outs[0], outs[1])
		assert.Equal(t, outs[0], outs[2])
		events := len(r.sink.Events())

		same := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", ` {"limit": 2.0, "path":"a.md"}`))
		assert.Equal(t, outs[0], same, "equal arguments in another order")
		assert.Len(t, r.sink.Events(), events, "no new events")

		other := turn.Execute(t.Context(), callOf("c1", "file_read", `{"path":"b.md","limit":2}`))
		assert.Equal(t, runtime.ReasonCallIDReused, other.Reason)
		assert.Equal(t, runtime.Denied, other.Kind)
		unknown := turn.Execute(t.Context(), callOf("c1", "nope", goodInput))
		assert.Equal(t, runtime.ReasonUnknownTool, unknown.Reason)
		assert.Equal(t, 1, ran)

		refused := turn.Execute(t.Context(), callOf("c2", "file_read", `{`))
		assert.Equal(t, refused, turn.Execute(t.Context(), callOf("c2", "file_read", `{`)))
		assert.Equal(t, runtime.ReasonCallIDReused, turn.Execute(t.Context(), callOf("c2", "file_read", `[`)).Reason)
	})
}

func TestMadeCallIDs(t *testing.T) {
	r := newRig(t, readTool(okRead))
	turn := r.turn()
	taken := turn.Execute(t.Context(), callOf("call-2", "file_read", goodInput))
	a := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
	b := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
	assert.Equal(t, []string{"call-2", "call-1", "call-3"}, []string{taken.CallID, a.CallID, b.CallID})
	assert.Equal(t, runtime.Completed, b.Kind)
}

func TestAttachedCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(3*time.Second))
		turn := r.turn()
		var first runtime.Outcome
		var wg sync.WaitGroup
		wg.Go(func() { first = turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out := turn.Execute(ctx, callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		wg.Wait()
		assert.Equal(t, runtime.Completed, first.Kind, "the call of the other caller goes on")
	})
}

// SEMANTICS 6.3.1, 6.3.3
func TestConcurrencyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 200
		var running, most atomic.Int32
		var order []string
		var mu sync.Mutex
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			mu.Lock()
			order = append(order, in.Path)
			mu.Unlock()
			time.Sleep(time.Second)
			return okRead(ctx, in)
		}, func(s *runtime.Spec) { s.Limits.Concurrency, s.Limits.Queue = 4, calls }))
		run := r.run()
		turn := run.Turn(engine.TurnConfig{Budget: time.Minute})
		start := time.Now()
		var wg sync.WaitGroup
		var want []string
		for i := range calls {
			id := fmt.Sprintf("c%03d", i)
			want = append(want, id)
			wg.Go(func() {
				out := turn.Execute(t.Context(), callOf(id, "file_read", `{"path":"`+id+`","limit":1}`))
				assert.Equal(t, runtime.Completed, out.Kind, out.Message)
			})
			synctest.Wait()
		}
		wg.Wait()
		assert.EqualValues(t, 4, most.Load())
		assert.Equal(t, 50*time.Second, time.Since(start))
		for i := range order { // four start at the same instant, in any order
			order[i] = order[i][:3]
			want[i] = want[i][:3]
		}
		assert.Equal(t, want[0], order[0])
		assert.Equal(t, want[calls-1], order[calls-1])
		assert.Equal(t, calls, run.Status().Invocations["file_read"])
	})
}

// SEMANTICS 6.3.2, 6.3.3
func TestAtCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(time.Hour, func(s *runtime.Spec) {
			s.Limits.Concurrency, s.Deadline = 1, 2*time.Hour
		}))
		run := r.run()
		var wg sync.WaitGroup
		wg.Go(func() {
			out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.Completed, out.Kind)
		})
		synctest.Wait()
		start := time.Now()
		out := run.Turn(engine.TurnConfig{Budget: 10 * time.Second}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonAtCapacity, out.Reason)
		assert.Equal(t, runtime.Denied, out.Kind)
		assert.Equal(t, 10*time.Second, time.Since(start))
		assert.Equal(t, 1, run.Status().Invocations["file_read"], "the reservation is released")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out = run.Turn(engine.TurnConfig{}).Execute(ctx, callOf("c3", "file_read", goodInput))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		wg.Wait()
		out = run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c4", "file_read", goodInput))
		assert.Equal(t, runtime.Completed, out.Kind, "those who gave up hold no slot")
	})
}

// SEMANTICS 1.1.3
func TestQueuedCallIsBlockedByATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(8*time.Second, func(s *runtime.Spec) { s.Limits.Concurrency = 1 }))
		turn := r.turn()
		var wg sync.WaitGroup
		wg.Go(func() {
			assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		})
		synctest.Wait()
		start := time.Now()
		out := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonBlockedAfterTimeout, out.Reason)
		assert.Equal(t, 8*time.Second, time.Since(start), "the slot is free when the handler has returned")
		wg.Wait()
	})
}

// SEMANTICS 1.3.1
func TestCloseRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(4*time.Second))
		run := r.run()
		turn := run.Turn(engine.TurnConfig{})
		var wg sync.WaitGroup
		wg.Go(func() {
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.Cancelled, out.Kind)
			assert.Equal(t, runtime.ReasonRunClosed, out.Reason)
			assert.Equal(t, time.Second, out.Duration)
		})
		time.Sleep(time.Second)
		assert.Equal(t, 1, run.Status().Active)
		assert.Equal(t, runtime.RunRunning, run.Status().State)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorContains(t, run.Close(ctx), "1 handlers or commands are still running")
		wg.Wait()
		require.NoError(t, run.Close(t.Context()))
		assert.Equal(t, runtime.RunFinished, run.Status().State)
		assert.Zero(t, run.Status().Active)
		out := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonRunFinished, out.Reason)
	})
}

// TestCloseRunStartsNothing has calls wait for a slot while the run is closed: the slot that the
// cancelled call leaves goes to none of them.
// SEMANTICS 1.3.3
func TestCloseRunStartsNothing(t *testing.T) {
	for range 50 {
		var started atomic.Int32
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			started.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(s *runtime.Spec) { s.Limits.Concurrency = 1 }))
		run := r.run()
		turn := run.Turn(engine.TurnConfig{})
		for i := range 5 {
			_, err := turn.StartCall(callOf(fmt.Sprint("c", i), "file_read", goodInput))
			require.NoError(t, err)
		}
		for started.Load() == 0 || run.Status().Active < 5 {
			stdruntime.Gosched()
		}
		require.NoError(t, run.Close(t.Context()))
		require.EqualValues(t, 1, started.Load(), "handlers that were started")
	}
}

// SEMANTICS 6.9.5
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(10*time.Second, writes, func(s *runtime.Spec) { s.Deadline = time.Minute }))
		ses := r.exec.Session(engine.SessionConfig{})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{})
		var wg sync.WaitGroup
		wg.Go(func() {
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.Unknown, out.Kind)
		})
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorContains(t, r.exec.Shutdown(ctx), "1 calls are still running")
		out := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonShuttingDown, out.Reason)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		_, err = ses.StartRun(t.Context(), engine.RunConfig{})
		assert.ErrorContains(t, err, "shutting down")
		wg.Wait()
	})
}

func TestZeroValuesAreSafe(t *testing.T) {
	var exec *engine.Executor
	var turn *engine.Turn
	ctx := t.Context()
	for _, out := range []runtime.Outcome{
		turn.Execute(ctx, runtime.Call{}),
		new(engine.Turn).Execute(ctx, runtime.Call{}),
		new(engine.Run).Turn(engine.TurnConfig{}).Execute(ctx, callOf("c", "x", "{}")),
		new(engine.Turn).WhatIf(ctx, runtime.Call{}).Outcome,
		{},
	} {
		assert.Equal(t, runtime.Denied, out.Kind)
	}
	for _, e := range []*engine.Executor{exec, {}} {
		_, err := e.Session(engine.SessionConfig{}).StartRun(ctx, engine.RunConfig{})
		assert.Error(t, err)
		assert.NoError(t, e.Shutdown(ctx))
	}
	var run engine.Run
	assert.NoError(t, run.Close(ctx))
	assert.Equal(t, runtime.RunFinished, run.Status().State)
	var facts *runtime.Facts
	assert.Zero(t, facts.Tool(3))
	assert.Zero(t, new(runtime.Facts).Len())
	assert.Zero(t, runtime.CallInfo{}.Remaining())
	_, ok := runtime.FromContext(ctx)
	assert.False(t, ok)
	_, err := engine.NewExecutor(nil, runtime.PolicyFunc(allowAll))
	assert.ErrorContains(t, err, "the registry is empty")
	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(t, err)
	_, err = engine.NewExecutor(reg, nil)
	assert.ErrorContains(t, err, "the policy is nil")
	r := newRig(t, readTool(okRead))
	//lint:ignore SA1012 a nil context is the point
	assert.Equal(t, runtime.Completed, r.turn().Execute(nil, callOf("c1", "file_read", goodInput)).Kind)
	r = newRigWith(t, decide(runtime.Decision{}), []*runtime.Tool{readTool(okRead)})
	assert.Equal(t, "no_allow", r.turn().Execute(ctx, callOf("c1", "file_read", goodInput)).Detail.Rule)
}
