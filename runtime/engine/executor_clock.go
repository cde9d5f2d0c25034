package engine

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A Waiter is a Clock that is told whether the executor has work to do, so that a
// simulation can advance the time when it has none.
//
// Busy adds delta to a sum. The executor adds 1 when one of its goroutines has work to do. It adds
// -1 when the goroutine, or a caller inside a method of the executor, waits for another goroutine
// or for the clock, or is done. The goroutine that ends such a wait adds the 1 for the one that
// waited. While the sum is 0 nothing happens until the time advances.
//
// Callers of the executor's methods count themselves, and the clock counts the
// functions that it calls. A handler counts as having work to do until it returns. A
// handler that waits for the clock must call Busy itself.
type Waiter interface {
	Busy(delta int)
}

// WithClock sets the clock. The default is wrong when time is simulated.
func WithClock(c runtime.Clock) Option {
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

// A wallClock tells the time of day. It reads the monotonic clock, which costs half as
// much as time.Now, and adds the difference to a full reading. It repeats the full
// reading every second, so a change of the system's time takes effect within a second.
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
func (e *Executor) after(d time.Duration, f func()) runtime.Timer {
	if e.clock == nil {
		return time.AfterFunc(d, f)
	}
	return e.clock.AfterFunc(d, f)
}

// busy tells the Waiter, if there is one, that work begins or ends.
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

// clockNow returns the function that tells the time of e's clock, nil for that of the system.
func (e *Executor) clockNow() func() time.Time {
	if e.clock == nil {
		return nil
	}
	return e.clock.Now
}
