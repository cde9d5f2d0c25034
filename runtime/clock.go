package runtime

import (
	"sync/atomic"
	"time"
)

// A Clock tells the time and calls back later. The default is the real one.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}

// A Timer is what a Clock's AfterFunc returns: like a time.Timer.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// A Waiter is a Clock that is told whether anything is going on, so that it can
// make time pass when nothing is.
//
// Busy adds to a sum: 1 when a goroutine of the executor has something to do, -1
// when it, or a caller inside one of the executor's methods, waits for another
// goroutine or for the clock, or is done. Whoever ends such a wait adds the 1 for
// who waited. While the sum is 0 nothing happens before time passes.
//
// Those who call the executor's methods count themselves, and the clock counts
// the functions that it calls. A handler counts as having something to do until
// it returns: one that waits for the clock says so itself.
type Waiter interface {
	Busy(delta int)
}

// WithClock sets the clock. The default is wrong when time is simulated.
func WithClock(c Clock) Option {
	return func(e *Executor) {
		e.clock = c
		e.waiter, _ = c.(Waiter)
	}
}

// now returns the time.
func (e *Executor) now() time.Time {
	if e.clock == nil {
		return e.wallClock.now()
	}
	return e.clock.Now()
}

// A wallClock tells the time of day. It reads the clock that nobody sets, which is half
// of what time.Now reads, and counts from a whole reading: somebody who sets the
// time of day is noticed within a second.
type wallClock struct{ read atomic.Pointer[time.Time] }

// now returns the time.
func (w *wallClock) now() time.Time {
	if last := w.read.Load(); last != nil {
		if since := time.Since(*last); since < time.Second {
			return last.Add(since)
		}
	}
	now := time.Now()
	w.read.Store(&now)
	return now
}

// after calls f when d has passed.
func (e *Executor) after(d time.Duration, f func()) Timer {
	if e.clock == nil {
		return time.AfterFunc(d, f)
	}
	return e.clock.AfterFunc(d, f)
}

// busy tells a clock that wants to know that something begins or ends.
func (e *Executor) busy(delta int) {
	if e.waiter != nil {
		e.waiter.Busy(delta)
	}
}

// until returns how long it is until t.
func (e *Executor) until(t time.Time) time.Duration {
	if e.clock == nil {
		return time.Until(t)
	}
	return t.Sub(e.clock.Now())
}
