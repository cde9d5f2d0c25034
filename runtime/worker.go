package runtime

import (
	"sync"
	"time"
)

// idleTime is how long a goroutine waits for another call, at most, before it ends.
const idleTime = 50 * time.Millisecond

// A crew is the goroutines that work on calls. One whose call is over takes the
// next, because a goroutine that has grown its stack once is much cheaper than
// a new one. Nobody has to dismiss a crew: without work it leaves by itself.
type crew struct {
	mu    sync.Mutex
	idle  []*worker
	timed bool // somebody will come and dismiss the idle
}

// A worker is a goroutine that works on one call after the other, and the timer
// that watches over it.
type worker struct {
	calls chan *call // closed when the worker is dismissed

	mu      sync.Mutex
	current *call
	timer   *time.Timer
	armed   time.Time // when the timer fires; zero: it does not run
}

// take gives a call to a worker.
func (w *crew) take(c *call) {
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		free := w.idle[n-1]
		w.idle = w.idle[:n-1]
		w.mu.Unlock()
		free.calls <- c
		return
	}
	w.mu.Unlock()
	go (&worker{calls: make(chan *call, 1)}).run(w, c)
}

// rest waits for another call. It returns nil when there is none for long.
func (w *crew) rest(free *worker) *call {
	w.mu.Lock()
	w.idle = append(w.idle, free)
	if !w.timed {
		w.timed = true
		time.AfterFunc(idleTime, w.dismiss)
	}
	w.mu.Unlock()
	return <-free.calls
}

// dismiss ends the workers that are idle.
func (w *crew) dismiss() {
	w.mu.Lock()
	idle := w.idle
	w.idle, w.timed = nil, false
	w.mu.Unlock()
	for _, free := range idle {
		close(free.calls)
	}
}

// run works on c and on the calls that come after it. A handler may end it by
// runtime.Goexit; what it owes to its call is paid by then.
func (w *worker) run(from *crew, c *call) {
	defer w.watch(nil)
	for c != nil {
		c.worker = w
		w.watch(c)
		c.work()
		w.mu.Lock()
		w.current = nil
		w.mu.Unlock()
		c = nil // an idle worker holds on to nothing
		c = from.rest(w)
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
