package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// mischief returns a handler and a policy that behave at random, call by call.
func mischief(rng func(int) int) (readFunc, runtime.PolicyFunc) {
	handler := func(ctx context.Context, in *readInput) (*readOutput, error) {
		switch rng(8) {
		case 0:
			panic("mischief")
		case 1:
			return nil, errors.New("mischief")
		case 2:
			time.Sleep(9 * time.Second)
		case 3:
			<-ctx.Done()
		case 4:
			_ = runtime.Commit(ctx, func() error { time.Sleep(time.Duration(rng(12)) * time.Second); return nil })
		case 5:
			return nil, nil
		}
		return okRead(ctx, in)
	}
	policy := func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		time.Sleep(time.Duration(rng(40)) * time.Millisecond)
		switch rng(12) {
		case 0:
			panic("mischief")
		case 1:
			return runtime.Decision{}, nil
		case 2:
			time.Sleep(90 * time.Millisecond)
		case 3:
			return runtime.Decision{Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Pointer: "/limit", Value: wire.Raw("7")}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	return handler, policy
}

// TestChaos makes calls that are cancelled, closed, shut down, refused, late or broken
// at random. It then checks that every call followed the life cycle, ended once, and
// ended in its events as it did for its caller.
func TestChaos(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
		})
	}
}

func chaos(t *testing.T, seed uint64) {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, 2))
	rng := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return source.IntN(n)
	}
	handler, policy := mischief(rng)
	r := newRigWith(t, policy, []*runtime.Tool{
		readTool(handler, named("a"), func(s *runtime.Spec) { s.Limits.Concurrency = 3 }),
		readTool(handler, named("b"), func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{OnTimeout: true} }),
	})
	run := r.run()
	outcomes := make([]runtime.Outcome, 120)
	var wg sync.WaitGroup
	turn := run.Turn(engine.TurnConfig{Budget: 20 * time.Second})
	for i := range outcomes {
		if i%30 == 0 {
			turn = run.Turn(engine.TurnConfig{Budget: 20 * time.Second})
		}
		in := turn
		wg.Go(func() {
			ctx := t.Context()
			if rng(4) == 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Duration(rng(6000))*time.Millisecond)
				defer cancel()
			}
			outcomes[i] = in.Execute(ctx, callOf(fmt.Sprint(i), []string{"a", "b"}[rng(2)], goodInput))
		})
		time.Sleep(time.Duration(rng(300)) * time.Millisecond)
	}
	if rng(2) == 0 {
		require.NoError(t, run.Close(t.Context()))
	}
	wg.Wait()
	require.NoError(t, r.exec.Shutdown(t.Context()))
	inspect(t, r, run, outcomes)
}

// inspect compares the events of all calls with the life cycle and the outcomes.
func inspect(t *testing.T, r *rig, run *engine.Run, outcomes []runtime.Outcome) {
	state, ends, started, seq := map[string]runtime.State{}, map[string]int{}, map[string]int{}, uint64(0)
	kind := map[string]runtime.OutcomeKind{}
	for _, e := range r.sink.Events() {
		require.Greater(t, e.Seq, seq)
		seq = e.Seq
		require.Equal(t, state[e.CallID], e.From)
		require.True(t, e.Kind.Legal(e.From, e.To), "%v", e)
		if e.To.Ended() && e.Kind != runtime.EventLateResult && e.Kind != runtime.EventLingering {
			ends[e.CallID]++
			kind[e.CallID] = e.Outcome
		}
		if e.Kind == runtime.EventStarted {
			started[e.Tool]++
		}
		state[e.CallID] = e.To
	}
	kinds := map[runtime.OutcomeKind]int{}
	for _, out := range outcomes {
		kinds[out.Kind]++
		if out.Reason == runtime.ReasonAtCapacity && out.Duration == 0 {
			assert.Zero(t, ends[out.CallID], "no event tells of a call for which there was no room")
			continue
		}
		assert.Equal(t, 1, ends[out.CallID], out.CallID)
		assert.Equal(t, kind[out.CallID], out.Kind)
		assert.Equal(t, out.Kind == runtime.Completed, out.Reason == runtime.ReasonNone)
	}
	assert.GreaterOrEqual(t, len(kinds), 4, "almost everything happened: %v", kinds)
	assert.Equal(t, started, run.Status().Invocations, "what was reserved is committed or released")
	assert.Zero(t, run.Status().Active)
}

// TestParallelCallers lets many goroutines share one executor in real time.
func TestParallelCallers(t *testing.T) {
	r := newRig(t, readTool(okRead, func(s *runtime.Spec) { s.Limits.Concurrency = 4 }))
	run := r.run()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			turn := run.Turn(engine.TurnConfig{Budget: time.Minute})
			for range 100 {
				assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("", "file_read", goodInput)).Kind)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 800, run.Status().Invocations["file_read"])
}
