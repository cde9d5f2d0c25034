package sched_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// TestRepeat: each period has a call when it is over, unless a call takes longer than a period.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		begin := time.Now()
		var at []time.Duration
		stop := sched.NewEvent()
		sched.Repeat(&s, time.Minute, stop, nil, func() {
			at = append(at, time.Since(begin))
			switch len(at) {
			case 2:
				time.Sleep(150 * time.Second) // until 4:30
			case 3:
				time.Sleep(time.Minute) // exactly one period
			case 5:
				s.Fire(stop)
			}
		})
		assert.Equal(t, []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 7 * time.Minute, 8 * time.Minute}, at)
		assert.Equal(t, 8*time.Minute, time.Since(begin), "it stops at once")
	})
}

func TestRepeatUntilDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		done := make(chan struct{})
		s.After(90*time.Second, func() { close(done) })
		begin, calls := time.Now(), 0
		sched.Repeat(&s, time.Minute, nil, done, func() { calls++ })
		assert.Equal(t, 1, calls)
		assert.Equal(t, 90*time.Second, time.Since(begin))
	})
}

// TestTogether: no call waits for another one, and all have returned when Together returns.
func TestTogether(t *testing.T) {
	for _, counted := range []bool{false, true} {
		var s sched.Scheduler
		clock := new(counting)
		if counted {
			s.Use(clock)
		}
		clock.Busy(1) // this goroutine
		var met, returned sync.WaitGroup
		met.Add(3)
		returned.Add(3)
		sched.Together(&s, []int{1, 2, 3}, func(int) {
			met.Done()
			met.Wait()
			returned.Done()
		})
		returned.Wait()
		sched.Together(&s, nil, func(int) { t.Error("there is no item") })
	}
}
