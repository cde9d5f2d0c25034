package sched

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWall compares the executor's time of day with time.Now. The executor reads the
// wall clock anew at least every second.
func TestWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w wallClock
		for range 100 {
			assert.Equal(t, time.Now(), w.now())
			assert.Less(t, time.Since(*w.read.Load()), time.Second)
			time.Sleep(70 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		assert.Equal(t, time.Now(), w.now())
		assert.Equal(t, time.Now(), *w.read.Load())
	})
}
