package stream

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// number is a frame with a position.
func number(n uint64) frame { return frame{position: n, text: make([]byte, 8)} }

// TestStalledReader: who takes nothing is told, in the place of all that waited, which position he got
// to, and nothing comes behind that.
func TestStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(10)
		begun := time.Now()
		var err error
		n := uint64(11)
		for ; err == nil; n++ {
			err = q.push(t.Context(), number(n))
			if n == 11 {
				f, some, _, err := q.take(t.Context(), idle)
				require.NoError(t, err)
				require.True(t, some)
				require.Equal(t, uint64(11), f.position)
			}
		}
		assert.ErrorIs(t, err, errStalled)
		assert.Equal(t, patience, time.Since(begun))
		assert.Equal(t, uint64(11+maxFrames+2), n, "as many wait as there is room for")
		q.finish(func(taken uint64) frame { return frame{position: taken, kind: lagged} })
		require.NoError(t, q.push(t.Context(), number(n)), "it is dropped")
		q.finish(func(uint64) frame { panic("the reader was told") })
		f, some, last, err := q.take(t.Context(), idle)
		require.NoError(t, err)
		assert.Equal(t, []any{true, true, uint64(11), lagged}, []any{some, last, f.position, f.kind})
	})
}

// TestSlowReader: who takes one now and then, slower than frames come, gets all of them in their order.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(0)
		const all = 4 * maxFrames
		failed := make(chan error, 1)
		go func() {
			for n := uint64(1); n <= all; n++ {
				if err := q.push(t.Context(), number(n)); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
		for n := uint64(1); n <= all; n++ {
			time.Sleep(patience - 1) // of the clock of the bubble
			f, some, _, err := q.take(t.Context(), idle)
			require.NoError(t, err)
			require.True(t, some)
			require.Equal(t, n, f.position)
		}
		assert.NoError(t, <-failed)
	})
}

// TestBoundedBuffer: no more bytes wait than the buffer has, but for one message that is larger.
func TestBoundedBuffer(t *testing.T) {
	q := newQueue(0)
	large := func(n uint64) frame { return frame{position: n, text: make([]byte, maxBytes)} }
	assert.True(t, q.add(large(1)))
	assert.False(t, q.add(number(2)))
	_, some, _ := q.next()
	assert.True(t, some)
	assert.True(t, q.add(number(2)))
	assert.False(t, q.add(large(3)))
}

// TestIdleAndEnd: a reader for whom nothing comes is told so after a while, and one whose context ends
// gets nothing that waits.
func TestIdleAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(0)
		begun := time.Now()
		_, some, _, err := q.take(t.Context(), idle)
		assert.NoError(t, err)
		assert.False(t, some)
		assert.Equal(t, idle, time.Since(begun))
		ctx, cancel := context.WithCancelCause(t.Context())
		require.True(t, q.add(number(1)))
		cancel(errRevoked)
		_, some, _, err = q.take(ctx, idle)
		assert.False(t, some)
		assert.ErrorIs(t, err, errRevoked)
		for q.add(number(2)) {
		}
		assert.ErrorIs(t, q.push(ctx, number(3)), errRevoked)
	})
}

// TestUntil: a stream ends when what let its reader in ends, by time or by revocation, and says so.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := untilRevoked(t.Context(), httpguard.Caller{Until: time.Now().Add(time.Hour)})
		defer cancel(nil)
		time.Sleep(time.Hour - time.Nanosecond) // of the clock of the bubble
		require.NoError(t, ctx.Err())
		time.Sleep(time.Nanosecond)
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), errRevoked)
		ended := make(chan struct{})
		ctx, cancel = untilRevoked(t.Context(), httpguard.Caller{Ended: ended, Until: time.Now().Add(time.Hour)})
		defer cancel(nil)
		close(ended)
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), errRevoked)
		ctx, cancel = untilRevoked(t.Context(), httpguard.Caller{})
		cancel(nil)
		require.ErrorIs(t, context.Cause(ctx), context.Canceled)
	})
}

// TestKinds: readers get events of calls and requests, and of nothing else.
func TestKinds(t *testing.T) {
	assert.Contains(t, kinds, "tool.invoked")
	assert.Contains(t, kinds, "tool.lingering")
	assert.Contains(t, kinds, "approval.expiring")
	assert.NotContains(t, kinds, "consent.off")
	assert.Contains(t, kinds, "approval.ended")
	assert.Len(t, kinds, 23, fmt.Sprint(kinds))
}
