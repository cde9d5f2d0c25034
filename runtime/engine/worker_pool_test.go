package engine

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestArmForTheEarlierOfTwo lets a worker and its timer call arm concurrently: one for
// the deadline of a handler, the other for the end of the turn, which it read before.
func TestArmForTheEarlierOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Executor{instantZero: time.Now()}
		near, far := time.Now().Add(time.Second), time.Now().Add(time.Hour)
		for range 200 {
			w := &worker{exec: e}
			var both sync.WaitGroup
			w.mu.Lock()
			both.Go(func() { w.arm(far) })
			both.Go(func() { w.arm(near) })
			w.mu.Unlock()
			both.Wait()
			assert.Equal(t, int64(e.instant(near)), w.armed.Load())
			w.stop()
		}
	})
}

// TestArmForgetsTheWallClock sets the system's clock forward by a day.
func TestArmForgetsTheWallClock(t *testing.T) {
	e := &Executor{instantZero: time.Now()}
	w := &worker{exec: e}
	defer w.stop()
	w.arm(time.Now().Add(time.Minute))
	armed := w.armed.Load()
	assert.InDelta(t, time.Minute, armed, float64(time.Second), "not in nanoseconds since 1970")
	w.arm(time.Now().Add(30 * time.Second))
	assert.Less(t, w.armed.Load(), armed)
}

// A stillClock does not advance, and tells when its only timer would fire.
type stillClock struct {
	at    time.Time
	after time.Duration
}

func (c *stillClock) Now() time.Time { return c.at }

func (c *stillClock) AfterFunc(d time.Duration, _ func()) runtime.Timer {
	c.after = d
	return c
}

func (c *stillClock) Stop() bool { return true }

func (c *stillClock) Reset(d time.Duration) bool {
	c.after = d
	return true
}

// TestArmOnAnyClock arms a worker at the first instant, at 0 and at the last instant.
func TestArmOnAnyClock(t *testing.T) {
	for _, at := range []string{"0001-01-01T00:00:01Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2262-04-11T23:47:16.8Z", "2400-01-01T00:00:00Z"} {
		now, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		clock := &stillClock{at: now}
		e := &Executor{instantZero: zeroOf(now)}
		e.sched.Use(clock)
		w := &worker{exec: e}
		for _, d := range []time.Duration{2 * time.Second, time.Second, 0} {
			w.arm(now.Add(d))
			assert.Equal(t, d, clock.after, at)
			w.arm(now.Add(time.Hour))
			if at < "2262" {
				assert.Equal(t, d, clock.after, "%s: it is armed before", at)
			}
		}
	}
}
