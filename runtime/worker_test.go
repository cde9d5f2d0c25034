package runtime

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestArmForTheEarlierOfTwo has a worker and its timer meet: one arms it for the
// deadline of a handler, the other for the end of the turn, which it looked up
// before.
func TestArmForTheEarlierOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Executor{epoch: time.Now()}
		near, far := time.Now().Add(time.Second), time.Now().Add(time.Hour)
		for range 200 {
			w := &worker{exec: e}
			var both sync.WaitGroup
			w.mu.Lock()
			both.Go(func() { w.arm(far) })
			both.Go(func() { w.arm(near) })
			w.mu.Unlock()
			both.Wait()
			assert.Equal(t, int64(near.Sub(e.epoch)), w.armed.Load())
			w.stop()
		}
	})
}

// TestArmForgetsTheWallClock has the system's clock set forward by a day.
func TestArmForgetsTheWallClock(t *testing.T) {
	e := &Executor{epoch: time.Now()}
	w := &worker{exec: e}
	defer w.stop()
	w.arm(time.Now().Add(time.Minute))
	armed := w.armed.Load()
	assert.InDelta(t, time.Minute, armed, float64(time.Second), "not in nanoseconds since 1970")
	w.arm(time.Now().Add(30 * time.Second))
	assert.Less(t, w.armed.Load(), armed)
}
