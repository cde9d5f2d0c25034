package sched_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// counting is a clock that counts what has work to do.
type counting struct{ busy atomic.Int64 }

func (c *counting) Now() time.Time { return time.Time{} }

func (c *counting) AfterFunc(time.Duration, func()) runtime.Timer { return nil }

func (c *counting) Busy(delta int) { c.busy.Add(int64(delta)) }

// TestWait waits for each of two events and for a channel.
func TestWait(t *testing.T) {
	for _, counted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var s sched.Scheduler
			if counted {
				s.Use(new(counting))
			}
			a, b, done := sched.NewEvent(), sched.NewEvent(), make(chan struct{})
			go s.Fire(b)
			assert.Equal(t, sched.Second, s.Wait(a, b, done))
			go close(done)
			assert.Equal(t, sched.Done, s.Wait(a, nil, done))
			go s.Fire(a)
			assert.Equal(t, sched.First, s.Wait(a, nil, nil))
			assert.True(t, a.Fired())
			s.Fire(a) // a second time changes nothing
			assert.True(t, a.Spin())
		})
	}
}

// TestWaiterCounts: a goroutine that waits is not busy, and is busy again before Fire returns. One
// that waits for two events is counted once.
func TestWaiterCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		clock := new(counting)
		s.Use(clock)
		a, b := sched.NewEvent(), sched.NewEvent()
		var all sync.WaitGroup
		for range 3 {
			s.Busy(1)
			all.Go(func() {
				s.Wait(a, b, nil)
				s.Busy(-1)
			})
		}
		synctest.Wait()
		assert.Zero(t, clock.busy.Load(), "all wait")
		s.Busy(1)
		s.Fire(b)
		s.Fire(a)
		s.Busy(-1)
		all.Wait()
		assert.Zero(t, clock.busy.Load())
	})
}

// A lowest is a clock that remembers the least number of goroutines that had work to do.
type lowest struct {
	counting
	mu    sync.Mutex
	least int64
}

func (c *lowest) Busy(delta int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counting.Busy(delta)
	c.least = min(c.least, c.busy.Load())
}

// seen returns the least number.
func (c *lowest) seen() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.least
}

// TestWaitThatIsOver: a goroutine stays busy when what it would wait for has happened. An event comes before a done
// that is closed.
func TestWaitThatIsOver(t *testing.T) {
	clock := &lowest{least: 1}
	var s sched.Scheduler
	s.Use(clock)
	s.Busy(1)
	clock.least = 1
	fired, other, gone := sched.NewEvent(), sched.NewEvent(), make(chan struct{})
	s.Fire(fired)
	close(gone)
	for range 100 {
		assert.Equal(t, sched.Done, s.Wait(other, nil, gone))
		assert.Equal(t, sched.First, s.Wait(fired, nil, gone))
		assert.Equal(t, sched.Second, s.Wait(other, fired, gone))
	}
	var g sched.Gate
	g.Enter()
	g.Shut()
	assert.EqualValues(t, 1, g.Wait(&s, nil, gone))
	assert.EqualValues(t, 1, clock.seen(), "the clock would have advanced")
}

// TestTogetherCounts: the caller of Together has work to do before the last goroutine has none.
func TestTogetherCounts(t *testing.T) {
	clock := &lowest{}
	var s sched.Scheduler
	s.Use(clock)
	s.Busy(1)
	clock.least = 1
	for range 200 {
		sched.Together(&s, []int{1, 2, 3}, func(int) {})
	}
	assert.EqualValues(t, 1, clock.seen())
	assert.EqualValues(t, 1, clock.busy.Load())
	sched.Together(&s, nil, func(int) { t.Error("there is nothing to call") })
}

// TestWaitFor waits for an event that fires, and for one that does not.
func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		e, begin := sched.NewEvent(), time.Now()
		assert.False(t, s.WaitFor(e, time.Second))
		assert.Equal(t, time.Second, time.Since(begin))
		s.After(time.Second, func() { s.Fire(e) })
		assert.True(t, s.WaitFor(e, time.Minute))
		assert.Equal(t, 2*time.Second, time.Since(begin))
	})
}

// TestGateWaitFor waits for a goroutine that leaves, and for one that leaves too late.
func TestGateWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		var g sched.Gate
		g.Enter()
		g.Shut()
		begin := time.Now()
		assert.EqualValues(t, 1, g.WaitFor(&s, time.Second))
		s.After(time.Second, g.Leave)
		assert.Zero(t, g.WaitFor(&s, time.Minute))
		assert.Equal(t, 2*time.Second, time.Since(begin))
	})
}

// TestGate: a shut gate lets no goroutine in, and Wait returns when the last one has left.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		var g sched.Gate
		assert.True(t, g.Enter())
		assert.True(t, g.Enter())
		g.Shut()
		assert.False(t, g.Enter())
		late := sched.NewEvent()
		s.After(time.Second, func() { s.Fire(late) })
		assert.EqualValues(t, 2, g.Wait(&s, late, nil))
		s.After(time.Second, g.Leave)
		s.After(2*time.Second, g.Leave)
		begin := time.Now()
		assert.Zero(t, g.Wait(&s, nil, nil))
		assert.Equal(t, 2*time.Second, time.Since(begin))
		g.Force()
		assert.EqualValues(t, 1, g.Wait(&s, late, nil))
	})
}

// TestSetLimit changes the limit of slots that are held and waited for.
func TestSetLimit(t *testing.T) {
	var s sched.Scheduler
	var l sched.Slots
	l.Open(1, 0)
	assert.Nil(t, l.Acquire())
	waits := []*sched.Event{l.Acquire(), l.Acquire(), l.Acquire(), l.Acquire()}
	fired := func() (n int) {
		for i, w := range waits {
			if w.Fired() {
				assert.Equal(t, i, n, "in the order in which they came")
				n++
			}
		}
		return n
	}
	l.SetLimit(3, &s)
	assert.Equal(t, 2, fired())
	l.SetLimit(0, &s) // one is the least
	l.Release(&s)
	l.Release(&s)
	assert.Equal(t, 2, fired(), "one is held, as many as there are")
	l.Release(&s)
	assert.Equal(t, 3, fired())
	l.SetLimit(9, &s)
	assert.Equal(t, 4, fired())
	assert.Nil(t, l.Acquire())
}

// TestSlots: waiting goroutines get slots in the order in which they came, and one that gives up
// passes its slot on.
func TestSlots(t *testing.T) {
	var s sched.Scheduler
	var l sched.Slots
	l.Open(1, 2)
	assert.Nil(t, l.Acquire())
	first, second, third := l.Acquire(), l.Acquire(), l.Acquire()
	l.CancelWait(second, &s)
	l.Release(&s)
	assert.True(t, first.Fired())
	l.CancelWait(first, &s) // it had the slot by then
	assert.True(t, third.Fired())
	assert.False(t, second.Fired())
	l.ReleaseAfter(2500*time.Millisecond, &s)
	assert.Equal(t, 3*time.Second, l.RetryAfter())
	l.AcquireThen(func(wait *sched.Event) { assert.Nil(t, wait) })

	for range 3 {
		assert.True(t, l.Enter())
	}
	assert.False(t, l.Enter(), "one with the slot and two in the queue")
	l.Leave()
	l.Leave()
	assert.True(t, l.Enter())

	var free sched.Slots // no limit
	for range 100 {
		assert.True(t, free.Enter())
	}
}

// TestCount: Idle fires when the last goroutine is counted out.
func TestCount(t *testing.T) {
	var s sched.Scheduler
	var c sched.Count
	assert.Nil(t, c.Idle())
	c.Begin()
	c.Begin()
	idle := c.Idle()
	c.End(&s)
	assert.False(t, idle.Fired())
	assert.Equal(t, 1, c.Number())
	c.End(&s)
	assert.True(t, idle.Fired())
}
