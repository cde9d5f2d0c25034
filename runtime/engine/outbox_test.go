package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A stuckSink takes no event until it is released, and stores the events from then on.
type stuckSink struct {
	runtime.MemorySink
	free chan struct{}
}

func (s *stuckSink) Emit(e *runtime.Event) error {
	<-s.free
	return s.MemorySink.Emit(e)
}

// TestASinkThatBlocksStopsNoCall: calls, their deadlines and the contexts of their
// callers do not depend on the sink. The events that it misses are counted, and
// reported to the error handler and to the sink. The events that it gets are in order.
func TestASinkThatBlocksStopsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &stuckSink{free: make(chan struct{})}
		var next runtime.MemorySink
		r := newRigWith(t, runtime.PolicyFunc(allowAll),
			[]*runtime.Tool{readTool(okRead), sleepy(time.Hour, named("slow"), func(s *runtime.Spec) { s.Deadline = time.Second })},
			engine.WithSink(stuck), engine.WithSink(&next))
		turn := r.run().Turn(engine.TurnConfig{})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		assert.Equal(t, runtime.Cancelled, turn.Execute(ctx, callOf("gone", "slow", goodInput)).Kind)
		assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("slow", "slow", goodInput)).Kind)
		assert.Equal(t, time.Second+time.Millisecond, time.Since(began))
		const calls = 2000
		for i := range calls {
			require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint(i), "file_read", goodInput)).Kind)
		}
		told := len(next.Events())
		assert.Greater(t, told, 5*calls)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.exec.Flush(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "events and 0 faults wait")

		close(stuck.free)
		faults := r.allFaults()
		require.Len(t, faults, 2)
		dropped := r.exec.Stats().Dropped
		assert.ErrorContains(t, faults[0], "takes no events: 8192 wait for it")
		assert.ErrorContains(t, faults[1], fmt.Sprintf("takes events again: %d were dropped", dropped))
		events := stuck.Events()
		require.Equal(t, told-int(dropped)+1, len(events))
		require.Equal(t, runtime.EventSinkDropped, events[len(events)-1].Kind)
		assert.Equal(t, dropped, events[len(events)-1].Dropped)
		assert.Equal(t, next.Events()[:len(events)-1], events[:len(events)-1])
		time.Sleep(time.Hour)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestASinkThatNeverReturns delays Shutdown by the grace period, no longer.
func TestASinkThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &stuckSink{free: make(chan struct{})}
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithSink(stuck))
		r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		began := time.Now()
		assert.ErrorContains(t, r.exec.Shutdown(t.Context()), "5 events and 0 faults wait for sinks")
		assert.Equal(t, 5*time.Second, time.Since(began))
		close(stuck.free)
		require.NoError(t, r.exec.Shutdown(t.Context()), "once more")
	})
}

// TestSinksGetEventsInOrder while many calls run, from one goroutine at a time.
func TestSinksGetEventsInOrder(t *testing.T) {
	var lines bytes.Buffer
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithSink(runtime.NewJSONSink(&lines)))
	turn := r.turn()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				turn.Execute(t.Context(), callOf(fmt.Sprint(i, "-", j), "file_read", goodInput))
			}
		})
	}
	wg.Wait()
	require.NoError(t, r.exec.Flush(t.Context()))
	last, lineCount := 0.0, 0
	for line := range strings.Lines(lines.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		require.Greater(t, m["seq"], last) // a journal counts its other entries, too
		last = m["seq"].(float64)
		lineCount++
	}
	assert.Equal(t, 8*50*5, lineCount)
}

// TestAnErrorHandlerThatBlocks delays no call, and is told how many faults it has
// missed.
func TestAnErrorHandlerThatBlocks(t *testing.T) {
	free := make(chan struct{})
	var told []string
	r := newRigWith(t, decide(runtime.Decision{Effect: 9}), []*runtime.Tool{readTool(okRead)},
		engine.WithErrorHandler(func(f *action.CallError) {
			<-free
			told = append(told, f.Error())
		}))
	turn := r.turn()
	const calls = 17_000 // twice the capacity, as the handler's goroutine may have taken one queue full
	for range calls {
		turn.WhatIf(t.Context(), callOf("", "file_read", goodInput))
	}
	dropped := r.exec.Stats().Dropped
	require.NotZero(t, dropped)
	close(free)
	require.NoError(t, r.exec.Flush(t.Context()))
	require.Equal(t, calls-int(dropped)+1, len(told))
	assert.Equal(t, fmt.Sprintf("faults were dropped because the error handler did not return: %d", dropped), told[len(told)-1])
}

// TestAnObserverThatBlocks: Execute waits for it until its caller's context ends. A
// call without a waiting caller does not wait, and timers go on.
func TestAnObserverThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)},
			engine.WithObserver(func(info runtime.CallInfo, _ runtime.Outcome) { <-free }))
		ses := r.exec.Session(engine.SessionConfig{ID: "observed"})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		assert.Equal(t, runtime.Completed, turn.Execute(ctx, callOf("c1", "file_read", goodInput)).Kind)
		assert.Equal(t, time.Minute, time.Since(began))
		id, err := turn.StartCall(callOf("c2", "file_read", goodInput))
		require.NoError(t, err)
		assert.Equal(t, runtime.Completed, ses.Await(t.Context(), id).Kind)
		close(free)
		require.NoError(t, r.exec.Flush(t.Context()))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestUnacknowledgedObligations are reported: an observer acknowledges by returning.
func TestUnacknowledgedObligations(t *testing.T) {
	notify := runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify"}}}
	for name, tc := range map[string]struct {
		observers []func(runtime.CallInfo, runtime.Outcome)
		faults    []string
	}{
		"nobody":  {nil, []string{"no observer has acknowledged what the policy obliges to: notify"}},
		"returns": {[]func(runtime.CallInfo, runtime.Outcome){func(runtime.CallInfo, runtime.Outcome) {}}, nil},
		"panics": {[]func(runtime.CallInfo, runtime.Outcome){func(runtime.CallInfo, runtime.Outcome) { panic("no") }},
			[]string{"panic: no", "no observer has acknowledged"}},
		"one leaves, one returns": {[]func(runtime.CallInfo, runtime.Outcome){
			func(runtime.CallInfo, runtime.Outcome) {}, func(runtime.CallInfo, runtime.Outcome) { goruntime.Goexit() }}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []engine.Option
			for _, f := range tc.observers {
				opts = append(opts, engine.WithObserver(f))
			}
			r := newRigWith(t, decide(notify), []*runtime.Tool{readTool(okRead)}, opts...)
			assert.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
			faults := r.allFaults()
			require.Len(t, faults, len(tc.faults))
			for i, text := range tc.faults {
				assert.ErrorContains(t, faults[i], text)
				assert.Equal(t, "c1", faults[i].CallID)
			}
		})
	}
}

// TestAnObserverThatNeverReturns acknowledges nothing.
func TestAnObserverThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		notify := runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify"}}}
		r := newRigWith(t, decide(notify), []*runtime.Tool{readTool(okRead)},
			engine.WithObserver(func(runtime.CallInfo, runtime.Outcome) { <-free }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.run().Turn(engine.TurnConfig{}).Execute(ctx, callOf("c1", "file_read", goodInput))
		close(free)
		faults := r.allFaults()
		require.Len(t, faults, 1)
		assert.ErrorContains(t, faults[0], "no observer has acknowledged what the policy obliges to: notify")
	})
}

// TestLingering counts handlers that outlive their calls, and emits one event for each.
// SEMANTICS 2.1.5
func TestLingering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		r := newRig(t, blocked(free, func(s *runtime.Spec) { s.Deadline = time.Second }), readTool(okRead, named("other")))
		turn := r.run().Turn(engine.TurnConfig{})
		count := func() (n int) {
			for _, e := range r.sink.Events() {
				if e.Kind == runtime.EventLingering {
					n++
				}
			}
			return n
		}
		assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		assert.Equal(t, 1, r.exec.Stats().Lingering)
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		assert.Zero(t, count())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, []string{
			"tool.invoked", "tool.validated", "tool.authorized", "tool.started", "tool.aborted", "tool.lingering"}, r.kinds("c1"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		run := r.exec.Session(engine.SessionConfig{ID: "other"})
		other, err := run.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		assert.Equal(t, runtime.Cancelled, other.Turn(engine.TurnConfig{}).Execute(ctx, callOf("c2", "file_read", goodInput)).Kind)
		assert.Equal(t, 2, r.exec.Stats().Lingering)
		assert.Equal(t, 2, r.exec.Stats().InFlight)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, 2, count(), "each once")
		close(free)
		synctest.Wait()
		assert.Zero(t, r.exec.Stats().Lingering)
		assert.Equal(t, "tool.late_result", r.kinds("c1")[6])
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

func TestNilSink(t *testing.T) {
	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(t, err)
	_, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithSink(nil))
	assert.ErrorContains(t, err, "a sink is nil")
}
