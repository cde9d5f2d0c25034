package runtime

import (
	goruntime "runtime"
	"slices"
	"sync"
	"time"
)

// linger is how often a goroutine lets others run, in the hope that one of them
// brings it another call, before it ends.
const linger = 16

// A crew is the goroutines that work on calls. One whose call is over looks
// around for the next for a moment, because a goroutine that has grown its
// stack is much cheaper than a new one; it never waits. So nobody has to
// dismiss a crew, and an executor that is let go of leaves nothing behind.
type crew struct {
	mu   sync.Mutex
	free []*worker
}

// A worker is a goroutine that works on one call after the other, and the timer
// that watches over it.
type worker struct {
	next *call // guarded by the crew

	mu      sync.Mutex
	current *call
	timer   *time.Timer
	armed   time.Time // when the timer fires; zero: it does not run
}

// take gives a call to a worker.
func (w *crew) take(c *call) {
	w.mu.Lock()
	n := len(w.free)
	if n > 0 {
		w.free[n-1].next = c
		w.free = w.free[:n-1]
	}
	w.mu.Unlock()
	if n == 0 {
		go new(worker).run(w, c)
	}
}

// look returns the next call for a worker, nil when none came soon.
func (w *crew) look(free *worker) (c *call) {
	w.mu.Lock()
	w.free = append(w.free, free)
	w.mu.Unlock()
	for i := 0; c == nil && i < linger; i++ {
		goruntime.Gosched()
		w.mu.Lock()
		c, free.next = free.next, nil
		w.mu.Unlock()
	}
	if c != nil {
		return c
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.free, free); i >= 0 {
		w.free = slices.Delete(w.free, i, i+1)
	}
	return free.next
}

// run works on c and on the calls that come after it. A handler may end it by
// runtime.Goexit; what it owes to its call is paid by then.
func (w *worker) run(of *crew, c *call) {
	defer w.watch(nil)
	for c != nil {
		c.worker = w
		w.watch(c)
		c.work()
		w.mu.Lock()
		w.current = nil
		w.mu.Unlock()
		c = of.look(w)
	}
}

// watch sets whose time the timer keeps. With nil it stops for good.
func (w *worker) watch(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = c
	if c == nil && w.timer != nil {
		w.timer.Stop()
	}
}

// arm sees to it that the timer fires at due or before. A timer that fires too
// early is armed again, so it runs on from call to call: for most of them it
// need not be touched at all.
func (w *worker) arm(due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if due.IsZero() || !w.armed.IsZero() && !due.Before(w.armed) {
		return
	}
	w.armed = due
	if w.timer == nil {
		w.timer = time.AfterFunc(time.Until(due), w.fire)
		return
	}
	w.timer.Reset(time.Until(due))
}

// fire looks whether the time of the current call is up.
func (w *worker) fire() {
	w.mu.Lock()
	w.armed = time.Time{}
	c := w.current
	w.mu.Unlock()
	if c != nil {
		w.arm(c.expire())
	}
}
