package commitlog_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestAStallKeepsTheEntries(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errFull)
		require.ErrorIs(t, w.Flush(add(w)), journal.ErrUnavailable)
		require.ErrorIs(t, w.Health(), errFull)
		assert.True(t, w.Stalled())
		add(w)
		time.Sleep(10 * time.Second)
		assert.True(t, w.Stalled())
		d.fail(nil)
		time.Sleep(time.Second) // a retry is due every 250 ms
		assert.False(t, w.Stalled())
		require.NoError(t, w.Health())
		assert.Equal(t, [][]uint64{{1, 2}}, d.stored(), "in their order")
	})
}

func TestAStallMayEndInAFailure(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errFull)
		position := add(w)
		require.ErrorIs(t, w.Flush(position), errFull)
		waited := make(chan error, 1)
		go func() { waited <- w.FlushThroughStall(position) }()
		synctest.Wait()
		w.Fail(errBroken)
		require.ErrorIs(t, <-waited, errBroken)
		assert.False(t, w.Stalled())
	})
}

// TestALogThatFailedBecauseItWasUnavailable: the reason for which a log is stopped for good, such as a
// recovery that could not write, may itself say that the journal is unavailable.
func TestALogThatFailedBecauseItWasUnavailable(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		position := add(w)
		w.Fail(fmt.Errorf("recovery has failed: %w", errFull))
		require.ErrorIs(t, w.FlushThroughStall(position), journal.ErrUnavailable)
	})
}

func TestFlushThroughStallWaitsForItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errFull)
		position := add(w)
		waited := make(chan error, 2)
		for range cap(waited) {
			go func() { waited <- w.FlushThroughStall(position) }()
		}
		time.Sleep(time.Minute)
		assert.Empty(t, waited)
		d.fail(nil)
		for range cap(waited) {
			require.NoError(t, <-waited)
		}
		assert.Equal(t, [][]uint64{{1}}, d.stored())
	})
}

// TestWhenDurable: the functions are called in order, each when its entry is durable, and before
// the stall is over.
func TestWhenDurable(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		var called []string
		note := func(name string) func() {
			return func() {
				called = append(called, name)
				assert.Error(t, w.Health(), "the stall is not over")
			}
		}
		d.fail(errFull)
		position := add(w)
		require.ErrorIs(t, w.Flush(position), errFull)
		w.WhenDurable(position, note("a"))
		w.WhenDurable(position, note("b"))
		assert.Empty(t, called)
		d.fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"a", "b"}, called)
		require.NoError(t, w.Health())

		w.WhenDurable(position, func() { called = nil })
		assert.Nil(t, called, "it is durable already")
	})
}

func TestWhenDurableIsNeverAfterAFailure(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errFull)
		position := add(w)
		require.ErrorIs(t, w.Flush(position), errFull)
		w.WhenDurable(position, func() { assert.Fail(t, "the entry is not durable") })
		d.fail(errBroken)
		time.Sleep(time.Minute)
		require.ErrorIs(t, w.Close(), errBroken)
	})
}

// TestAnotherStallWithTheSameError: a stall that begins while the functions of the former one are
// called is not ended with it, although its error is the same value.
func TestAnotherStallWithTheSameError(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errFull)
		position := add(w)
		require.ErrorIs(t, w.Flush(position), errFull)
		w.WhenDurable(position, func() {
			d.fail(errFull)
			assert.ErrorIs(t, w.Flush(add(w)), errFull)
		})
		d.fail(nil)
		time.Sleep(260 * time.Millisecond)
		assert.True(t, w.Stalled())
		d.fail(nil)
		time.Sleep(260 * time.Millisecond)
		assert.False(t, w.Stalled())
		assert.Equal(t, [][]uint64{{1}, {2}}, d.stored())
	})
}

func TestCloseDuringAStallLosesTheEntries(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errFull)
		add(w)
		require.ErrorIs(t, w.Close(), errFull)
		assert.True(t, errors.Is(w.Health(), commitlog.ErrClosed))
		d.fail(nil)
		time.Sleep(time.Minute)
		assert.Empty(t, d.stored(), "the executor does not use the journal any more")
	})
}
