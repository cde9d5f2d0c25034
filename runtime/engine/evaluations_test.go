package engine_test

import (
	"context"
	"fmt"
	goruntime "runtime"
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

// hangingPolicy returns a policy that allows every call, and takes an hour for calls of
// the tools named in hang.
func hangingPolicy(hang ...string) runtime.Policy {
	return runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		for _, tool := range hang {
			if in.Tool.Name == tool {
				time.Sleep(time.Hour)
			}
		}
		return allowAll(ctx, in)
	})
}

// TestBreakerIsPerTool abandons evaluations of one tool after the other: the breaker of
// a tool does not affect other tools until four of them are open.
// SEMANTICS 3.5.7
func TestBreakerIsPerTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tools []*runtime.Tool
		var names []string
		for i := range 5 {
			names = append(names, fmt.Sprintf("tool_%d", i))
			tools = append(tools, readTool(okRead, named(names[i])))
		}
		r := newRigWith(t, hangingPolicy(names[:4]...), tools)
		turn := r.run().Turn(engine.TurnConfig{})
		rule := func(tool string) string {
			return turn.Execute(t.Context(), runtime.Call{Tool: tool, Input: []byte(goodInput)}).Detail.Rule
		}
		for i, name := range names[:4] {
			assert.Empty(t, rule("tool_4"), "after %d open breakers", i)
			assert.Equal(t, "timeout", rule(name))
			assert.Equal(t, "timeout", rule(name))
			assert.Equal(t, "breaker_open", rule(name))
		}
		assert.Equal(t, "breaker_open", rule("tool_4"))
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Empty(t, rule("tool_4"), "the evaluations have ended")
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestEvaluationsAtOnce makes many calls at once: as many evaluations run as there are
// processors, and no call is denied because it waited for longer than the limit.
// SEMANTICS 6.3.7, 6.3.8
func TestEvaluationsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			time.Sleep(900 * time.Millisecond)
			return allowAll(ctx, in)
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
		turn := r.run().Turn(engine.TurnConfig{})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				out := turn.Execute(t.Context(), runtime.Call{Tool: "file_read", Input: []byte(goodInput)})
				assert.Equal(t, runtime.Completed, out.Kind, out.Message)
			})
		}
		wg.Wait()
		assert.EqualValues(t, goruntime.GOMAXPROCS(0), most.Load())
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestWaitingForAnEvaluationEndsWithTheTurn keeps all places occupied.
// SEMANTICS 6.3.8
func TestWaitingForAnEvaluationEndsWithTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.CallID == "" || in.CallID[0] == 'h' {
				<-free
			}
			return allowAll(ctx, in)
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)}, engine.WithPolicyTimeout(time.Hour))
		run := r.run()
		var wg sync.WaitGroup
		for i := range goruntime.GOMAXPROCS(0) {
			wg.Go(func() {
				out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(fmt.Sprint("h", i), "file_read", goodInput))
				assert.Equal(t, runtime.Completed, out.Kind)
			})
		}
		synctest.Wait()
		start := time.Now()
		out := run.Turn(engine.TurnConfig{Budget: time.Minute}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonDeadline, out.Reason)
		assert.Equal(t, time.Minute, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out = run.Turn(engine.TurnConfig{}).Execute(ctx, callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonCancelled, out.Reason)
		close(free)
		wg.Wait()
		out = run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c3", "file_read", goodInput))
		assert.Equal(t, runtime.Completed, out.Kind, "those that gave up hold no place")
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// A lateClock is a clock whose timers fire late: time jumps, as it does for a process
// that was stopped.
type lateClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*lateTimer]time.Time
}

type lateTimer struct {
	clock *lateClock
	f     func()
}

func (c *lateClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *lateClock) AfterFunc(d time.Duration, f func()) runtime.Timer {
	t := &lateTimer{clock: c, f: f}
	t.Reset(d)
	return t
}

func (t *lateTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, runs := t.clock.timers[t]
	delete(t.clock.timers, t)
	return runs
}

func (t *lateTimer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, runs := t.clock.timers[t]
	t.clock.timers[t] = t.clock.now.Add(d)
	return runs
}

// jump advances the time at once and then calls what is due.
func (c *lateClock) jump(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []*lateTimer
	for t, at := range c.timers {
		if !at.After(c.now) {
			due = append(due, t)
			delete(c.timers, t)
		}
	}
	c.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

// TestStoppedProcessAbandonsNoEvaluation stops the process for ten minutes, repeatedly,
// while a policy is being evaluated.
// SEMANTICS 3.5.6
func TestStoppedProcessAbandonsNoEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, free := make(chan struct{}), make(chan struct{})
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			asked <- struct{}{}
			<-free
			return allowAll(ctx, in)
		})
		clock := &lateClock{now: time.Unix(1000, 0), timers: map[*lateTimer]time.Time{}}
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)}, engine.WithClock(clock),
			engine.WithPolicyTimeout(runtime.DefaultPolicyTimeout))
		turn := r.run().Turn(engine.TurnConfig{})
		outs := make(chan runtime.Outcome, 1)
		call := func() { outs <- turn.Execute(t.Context(), runtime.Call{Tool: "file_read", Input: []byte(goodInput)}) }
		go call()
		<-asked
		for range 99 {
			clock.jump(10 * time.Minute)
		}
		free <- struct{}{}
		out := <-outs
		assert.Equal(t, runtime.Completed, out.Kind, out.Message)

		go call()
		<-asked
		for range 100 {
			clock.jump(10 * time.Millisecond)
		}
		out = <-outs
		assert.Equal(t, "timeout", out.Detail.Rule, "the hundredth tick is the limit")
		free <- struct{}{}
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}
