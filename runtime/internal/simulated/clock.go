// Package simulated provides the executor of scenarios and replays: one on a clock whose time advances only when no
// goroutine that it counts has work to do and a step waits for a timer, or for a replay when the recording says so.
package simulated

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// A Clock stands still while any counted goroutine has work to do, and advances to
// the next timer when a step waits for it. It implements runtime.Clock and
// sched.Waiter.
type Clock struct {
	// Patience is how long, in real time, a step may have something to do
	// before the clock gives it up; 0: for ever.
	Patience time.Duration

	mu      lockorder.Mutex[lockorder.Clock]
	now     time.Time
	busy    int        // goroutines that have work to do
	over    bool       // the step has ended
	lost    bool       // it took more than Patience
	changed *sync.Cond // of the three above
	timers  []*timer   // that run, the next one first
	made    int
}

// Epoch is where a clock begins. It has no monotonic reading, so that code cannot
// compare it with real time by accident.
func Epoch() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// NewClock returns a clock at Epoch.
func NewClock() *Clock { return ClockAt(Epoch()) }

// ClockAt returns a clock at an instant.
func ClockAt(now time.Time) *Clock {
	c := &Clock{now: now.Round(0).UTC()}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Now implements runtime.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Busy implements sched.Waiter.
func (c *Clock) Busy(delta int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy += delta
	c.changed.Broadcast()
}

// A timer is a call that is due at a time. Of those that are due at one time
// the one that was set first comes first.
type timer struct {
	of    *Clock
	f     func()
	at    time.Time
	order int
	runs  bool
}

// AfterFunc implements runtime.Clock.
func (c *Clock) AfterFunc(d time.Duration, f func()) runtime.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{of: c, f: f}
	t.set(d)
	return t
}

// set starts t. The clock is locked.
func (t *timer) set(d time.Duration) {
	c := t.of
	c.made++
	t.at, t.order, t.runs = c.now.Add(max(d, 0)), c.made, true
	i, _ := slices.BinarySearchFunc(c.timers, t, func(a, b *timer) int {
		if d := a.at.Compare(b.at); d != 0 {
			return d
		}
		return a.order - b.order
	})
	c.timers = slices.Insert(c.timers, i, t)
}

// stop stops t and reports whether it ran. The clock is locked.
func (t *timer) stop() bool {
	ran := t.runs
	if i := slices.Index(t.of.timers, t); i >= 0 {
		t.of.timers = slices.Delete(t.of.timers, i, i+1)
	}
	t.runs = false
	return ran
}

// Stop implements runtime.Timer.
func (t *timer) Stop() bool {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	return t.stop()
}

// Reset implements runtime.Timer.
func (t *timer) Reset(d time.Duration) bool {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	ran := t.stop()
	t.set(d)
	return ran
}

// Sleep waits as a handler does.
func (c *Clock) Sleep(d time.Duration) {
	woken := make(chan struct{})
	c.AfterFunc(d, func() { c.Busy(1); close(woken) })
	c.Busy(-1)
	<-woken
}

// Perform does a step: f, with all the time it takes, and what is due at its end.
func (c *Clock) Perform(f func()) error {
	c.mu.Lock()
	c.over = false
	c.busy++ // the caller of the executor counts itself
	c.mu.Unlock()
	if c.Patience > 0 {
		defer time.AfterFunc(c.Patience, c.GiveUp).Stop()
	}
	go func() {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.busy--
			c.over = true
			c.changed.Broadcast()
		}()
		f()
	}()
	for !c.settle() {
		if !c.fire(time.Time{}) {
			return c.stuck()
		}
	}
	return c.Advance(0)
}

// GiveUp ends the step, and all later ones, at once: the clock is of no more use.
func (c *Clock) GiveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = true
	c.changed.Broadcast()
}

// settle waits until no counted goroutine has work to do, and reports whether the
// step has ended.
func (c *Clock) settle() (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.busy != 0 && !c.lost {
		c.changed.Wait()
	}
	return c.over || c.lost
}

// fire moves the time on to the next timer and calls it, unless that is due
// after until, when until is not zero. It reports whether there was one.
func (c *Clock) fire(until time.Time) bool {
	c.mu.Lock()
	if len(c.timers) == 0 || !until.IsZero() && c.timers[0].at.After(until) {
		c.mu.Unlock()
		return false
	}
	t := c.timers[0]
	t.stop()
	if t.at.After(c.now) {
		c.now = t.at
	}
	c.busy++
	c.mu.Unlock()
	go func() {
		defer c.Busy(-1)
		t.f()
	}()
	return true
}

// Advance moves the time on by d and calls what is due on the way.
func (c *Clock) Advance(d time.Duration) error {
	until := c.Now().Add(d)
	c.settle()
	for c.fire(until) {
		c.settle()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = until
	return c.gone()
}

// Reach moves the time on to an instant and calls what is due before it: what is
// due then comes with the next step, or after a Rest.
func (c *Clock) Reach(at time.Time) error {
	if now := c.Now(); !at.After(now) {
		return c.Rest()
	}
	if err := c.Advance(at.Sub(c.Now()) - 1); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at.Round(0).UTC()
	return nil
}

// Next calls the next of what is due by now, and reports whether there was any.
func (c *Clock) Next() bool {
	c.settle()
	some := c.fire(c.Now())
	c.settle()
	return some
}

// Restart sets the time and drops all timers: the program that set them has ended.
func (c *Clock) Restart(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.timers {
		t.runs = false
	}
	c.now, c.timers = at.Round(0).UTC(), nil
}

// Rest waits until no counted goroutine has work to do, and calls no timer.
func (c *Clock) Rest() error {
	c.settle()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone()
}

// gone says that the clock was given up, if it was. The clock is locked.
func (c *Clock) gone() error {
	if c.lost {
		return fmt.Errorf("after %v nothing has come to rest", c.Patience)
	}
	return nil
}

func (c *Clock) stuck() error {
	return fmt.Errorf("%v after the beginning nothing can happen any more and the step has not ended", c.Now().Sub(Epoch()))
}
