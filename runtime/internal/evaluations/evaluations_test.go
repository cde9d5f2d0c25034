package evaluations_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/evaluations"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const limit = time.Second

// open returns Evaluations of one place, about ten tools.
func open() *evaluations.Evaluations {
	v := new(evaluations.Evaluations)
	v.Open(new(sched.Scheduler), 10, limit)
	v.SetPlaces(1)
	return v
}

// hanging is a policy that returns when release is closed.
func hanging(release chan struct{}) func(context.Context) (runtime.Decision, error) {
	return func(context.Context) (runtime.Decision, error) {
		<-release
		return runtime.Decision{}, nil
	}
}

type codec struct{}

func (codec) Decode([]byte, wire.Limits) (wire.Value, []wire.Violation) { return nil, nil }

// registryOf returns a registry of n tools.
func registryOf(t *testing.T, n int) *runtime.Registry {
	t.Helper()
	list := make([]*runtime.Tool, n)
	for i := range list {
		list[i] = runtime.NewDynamicTool(&runtime.Spec{Name: fmt.Sprint("tool_", i)}, codec{}, func(context.Context, wire.Value) (wire.Value, error) { return nil, nil })
	}
	r, err := runtime.NewRegistry(list...)
	require.NoError(t, err)
	return r
}

func allow(context.Context) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// TestLimit: an evaluation is counted in ticks of 10 ms, or of its limit when that is shorter.
func TestLimit(t *testing.T) {
	for limit, want := range map[time.Duration]int{time.Second: 100, 15 * time.Millisecond: 2, 10 * time.Millisecond: 1, time.Millisecond: 1} {
		var v evaluations.Evaluations
		v.Open(new(sched.Scheduler), 1, limit)
		ticks, tick := v.Limit()
		assert.Equal(t, want, ticks)
		assert.Equal(t, min(limit, 10*time.Millisecond), tick)
	}
}

// TestDetached returns what the policy returns.
func TestDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := open()
		fails := errors.New("it fails")
		d, err := v.Detached(t.Context(), 0, allow)
		require.NoError(t, err)
		assert.Equal(t, runtime.EffectAllow, d.Effect)
		_, err = v.Detached(t.Context(), 0, func(context.Context) (runtime.Decision, error) { return runtime.Decision{}, fails })
		require.ErrorIs(t, err, fails)
		_, err = v.Detached(t.Context(), 0, func(context.Context) (runtime.Decision, error) { panic("oops") })
		require.ErrorContains(t, err, "oops")
		_, err = v.Detached(t.Context(), 0, func(context.Context) (runtime.Decision, error) { goruntime.Goexit(); return runtime.Decision{}, nil })
		require.ErrorIs(t, err, usercode.ErrExited)
		require.NoError(t, v.Blocked(0))
		_, err = v.Detached(t.Context(), 0, allow)
		require.NoError(t, err, "the place is free")
	})
}

// TestDetachedIsAbandoned: an evaluation that takes too long is told so and left, and its place is free.
func TestDetachedIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := open()
		start := time.Now()
		ended := make(chan error, 1)
		_, err := v.Detached(t.Context(), 0, func(ctx context.Context) (runtime.Decision, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return runtime.Decision{}, nil
		})
		require.ErrorIs(t, err, evaluations.ErrAbandoned)
		assert.Equal(t, limit, time.Since(start))
		require.ErrorIs(t, <-ended, context.DeadlineExceeded)
		_, err = v.Detached(t.Context(), 0, allow)
		require.NoError(t, err)
	})
}

// TestDetachedWaitsForAPlace, as long as its context lasts.
func TestDetachedWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := open()
		assert.Nil(t, v.Acquire())
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		_, err := v.Detached(ctx, 0, allow)
		require.ErrorIs(t, err, gone)
		time.AfterFunc(time.Minute, v.Release)
		_, err = v.Detached(t.Context(), 0, allow)
		require.NoError(t, err)
		assert.Nil(t, v.Acquire(), "no place was lost")
	})
}

// TestBreaker: two abandoned evaluations of a tool block the tool, four such tools block all; those that
// return end that.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := open()
		registry := registryOf(t, 10)
		figures := func() (s runtime.Stats) { v.Measure(&s, registry); return s }
		assert.Zero(t, figures())
		var releases []chan struct{}
		for tool := range 4 {
			for n := range 2 {
				require.NoError(t, v.Blocked(tool), "tool %d after %d", tool, n)
				releases = append(releases, make(chan struct{}))
				_, err := v.Detached(t.Context(), tool, hanging(releases[len(releases)-1]))
				require.ErrorIs(t, err, evaluations.ErrAbandoned)
			}
			require.ErrorContains(t, v.Blocked(tool), "2 evaluations about this tool were abandoned")
			if tool < 3 {
				require.NoError(t, v.Blocked(9))
				assert.Equal(t, runtime.Stats{Abandoned: 2 * (tool + 1), Broken: tool + 1, BrokenTools: registry.Names()[:tool+1]}, figures())
			}
		}
		assert.Equal(t, runtime.Stats{Abandoned: 8, Broken: 4, BrokenTools: registry.Names()[:4], Halted: true}, figures())
		require.ErrorContains(t, v.Blocked(9), "2 evaluations about each of 4 tools were abandoned")
		_, err := v.Detached(t.Context(), 9, allow)
		require.Error(t, err)
		for i, release := range releases {
			close(release)
			synctest.Wait()
			require.NoError(t, v.Blocked(9))
			require.NoError(t, v.Blocked(i/2))
		}
		assert.Zero(t, figures())
	})
}
