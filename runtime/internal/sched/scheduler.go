package sched

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
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

// A Scheduler tells the time, starts timers, and fires and awaits events. The zero value has the
// clock of the system. It must not be copied after its first use.
type Scheduler struct {
	clock  runtime.Clock // nil: that of the system
	waiter Waiter        // nil: the clock is no Waiter
	wall   wallClock
	mu     lockorder.Mutex[lockorder.Scheduler] // guards which goroutine waits for which event; used only with a Waiter
}

// Use sets the clock, before the first use of s.
func (s *Scheduler) Use(c runtime.Clock) {
	s.clock = c
	s.waiter, _ = c.(Waiter)
}

// Simulated reports whether s has another clock than that of the system.
func (s *Scheduler) Simulated() bool { return s.clock != nil }

// Counts reports whether the clock is a Waiter.
func (s *Scheduler) Counts() bool { return s.waiter != nil }

// Clock returns the function that tells the time of the clock, nil for that of the system.
func (s *Scheduler) Clock() func() time.Time {
	if s.clock == nil {
		return nil
	}
	return s.clock.Now
}

// Now returns the time. A change of the system's time takes effect within a second.
func (s *Scheduler) Now() time.Time {
	if s.clock == nil {
		return s.wall.now()
	}
	return s.clock.Now()
}

// Since returns the time, of which start is an earlier reading: measured by the monotonic clock, so
// that a change of the system's time does not change how long something takes. That is cheaper than
// Now.
func (s *Scheduler) Since(start time.Time) time.Time {
	if s.clock != nil {
		return s.clock.Now()
	}
	return start.Add(time.Since(start))
}

// Until returns how long it is until t.
func (s *Scheduler) Until(t time.Time) time.Duration {
	if s.clock == nil {
		return time.Until(t)
	}
	return t.Sub(s.clock.Now())
}

// After calls f in its own goroutine when d has passed.
func (s *Scheduler) After(d time.Duration, f func()) runtime.Timer {
	if s.clock == nil {
		return time.AfterFunc(d, f)
	}
	return s.clock.AfterFunc(d, f)
}

// Busy tells the Waiter, if there is one, that work begins or ends.
func (s *Scheduler) Busy(delta int) {
	if s.waiter != nil {
		s.waiter.Busy(delta)
	}
}

// A wallClock adds monotonic time to the last full time.Now, which costs half as much as another
// one. It is refreshed every second, so that clock adjustments are picked up.
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
