package deadline_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

type key struct{}

// TestContext: the first cause ends a context, before or after its channel is asked for.
func TestContext(t *testing.T) {
	for cause, want := range map[deadline.Cause]error{deadline.Canceled: context.Canceled, deadline.Exceeded: context.DeadlineExceeded} {
		c := deadline.Context{Parent: context.WithValue(t.Context(), key{}, "v")}
		assert.Equal(t, "v", c.Value(key{}))
		require.NoError(t, c.Err())
		before := c.Done()
		select {
		case <-before:
			t.Fatal("it has ended")
		default:
		}
		c.Cancel(cause)
		c.Cancel(3 - cause)
		<-before
		<-c.Done()
		require.ErrorIs(t, c.Err(), want)

		c2 := deadline.Context{Parent: t.Context()}
		c2.Cancel(cause)
		<-c2.Done()
	}
}

// TestContextDeadline is the earlier of its own and the parent's.
func TestContextDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon, late := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		bound, cancel := context.WithDeadline(t.Context(), soon)
		defer cancel()
		for _, row := range []struct {
			parent context.Context
			due    time.Time
			want   time.Time
			ok     bool
		}{
			{parent: context.Background()}, {context.Background(), late, late, true}, {bound, late, soon, true}, {bound, time.Time{}, soon, true},
			{bound, soon.Add(-time.Minute), soon.Add(-time.Minute), true},
		} {
			got, ok := (&deadline.Context{Parent: row.parent, Due: row.due}).Deadline()
			assert.Equal(t, row.ok, ok)
			assert.Equal(t, row.want, got)
		}
	})
}

// TestContextFromManyGoroutines: Done and Cancel race, and no goroutine waits for ever.
func TestContextFromManyGoroutines(t *testing.T) {
	for range 200 {
		c := deadline.Context{Parent: t.Context()}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { <-c.Done() })
		}
		all.Go(func() { c.Cancel(deadline.Canceled) })
		all.Wait()
	}
}

// TestCall returns what the code returns, and does not wait for code that is late.
func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		fails := errors.New("it fails")
		call := func(f func(context.Context) error) error { return deadline.Call(&s, t.Context(), time.Second, f) }
		require.NoError(t, call(func(ctx context.Context) error {
			due, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, time.Second, time.Until(due).Round(time.Millisecond))
			return nil
		}))
		require.ErrorIs(t, call(func(context.Context) error { return fails }), fails)
		require.ErrorContains(t, call(func(context.Context) error { panic("oops") }), "panic: oops")
		require.ErrorIs(t, call(func(context.Context) error { goruntime.Goexit(); return nil }), usercode.ErrExited)

		start, ended := time.Now(), make(chan error, 1)
		err := call(func(ctx context.Context) error {
			<-ctx.Done()
			ended <- ctx.Err()
			return nil
		})
		var late *deadline.OverdueError
		require.ErrorAs(t, err, &late)
		require.EqualError(t, err, "it did not finish within 1s")
		assert.Equal(t, time.Second, time.Since(start))
		require.ErrorIs(t, <-ended, context.DeadlineExceeded)
	})
}

func TestLeft(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	_, bounded := deadline.Left(time.Time{}, now)
	assert.False(t, bounded, "there is no end")
	left, bounded := deadline.Left(now.Add(-time.Second), now)
	assert.Equal(t, []any{-time.Second, true}, []any{left, bounded}, "the end is over")
}
