package runtime

import (
	"cmp"
	"math"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// poolSpins is how often a goroutine lets others run, in the hope that one of them
// brings it another call, before it ends.
const poolSpins = 16

// A workerPool is the goroutines that work on calls. One whose call is over looks
// around for the next for a moment, because a goroutine that has grown its
// stack is much cheaper than a new one; it never waits. So nobody has to
// dismiss a crew, and an executor that is let go of leaves nothing behind.
type workerPool struct {
	stop atomic.Uint32 // why all have to stop; 0: they need not
	mu   sync.Mutex
	free []*worker
	all  []*worker
}

// A worker is a goroutine that works on one call after the other, and the timer
// that watches over it.
type worker struct {
	next    atomic.Pointer[call] // given by take
	current atomic.Pointer[call] // watched by the timer
	armed   atomic.Int64         // the instant at which the timer fires; 0: it does not run

	input      PolicyInput  // for the policy, one after the other: it must not keep it
	view       view         // of the facts, likewise
	rule       rules.Call   // for the rules, likewise
	effect     rules.Digest // of the call, as it was described
	evaluation evaluation
	shadowed   *shadowed // for the shadow policy, likewise; nil: there is none
	err        error     // of the handler

	exec  *Executor
	place int // among all; guarded by the crew
	mu    sync.Mutex
	timer Timer
}

// take gives a call to a worker.
func (w *workerPool) take(c *call) {
	c.exec.busy(1)
	w.mu.Lock()
	n := len(w.free)
	if n == 0 {
		hired := &worker{exec: c.exec, place: len(w.all)}
		w.all = append(w.all, hired)
		w.mu.Unlock()
		go hired.run(w, c)
		return
	}
	w.free[n-1].next.Store(c)
	w.free = w.free[:n-1]
	w.mu.Unlock()
}

// look returns the next call for a worker, nil when none came soon.
func (w *workerPool) look(free *worker) *call {
	w.mu.Lock()
	w.free = append(w.free, free)
	w.mu.Unlock()
	for range poolSpins {
		goruntime.Gosched()
		if free.next.Load() != nil {
			return free.next.Swap(nil)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.free, free); i >= 0 {
		w.free = slices.Delete(w.free, i, i+1)
	}
	return free.next.Swap(nil)
}

// dismiss forgets a worker that has ended.
func (w *workerPool) dismiss(gone *worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.all[len(w.all)-1]
	w.all[gone.place], last.place = last, gone.place
	w.all[len(w.all)-1] = nil
	w.all = w.all[:len(w.all)-1]
}

// halt sees to it that calls that come from now on know why they have to end.
func (w *workerPool) halt(why uint32) { w.stop.Store(why) }

// calls returns the calls that are being worked on, and some others that have
// ended or wait for consent. Those that it misses know that the crew was halted.
func (w *workerPool) calls() (list []*call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		if c := one.current.Load(); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// run works on c and on the calls that come after it. A handler may end it by
// runtime.Goexit; what it owes to its call is paid by then.
func (w *worker) run(of *workerPool, c *call) {
	defer of.dismiss(w)
	defer w.stop()
	for c != nil {
		c.worker = w
		w.current.Store(c)
		if why := of.stop.Load(); why != 0 {
			c.halted(why)
		}
		c.advance()
		c = of.look(w)
	}
}

// stop stops the timer for good.
func (w *worker) stop() {
	w.current.Store(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// arm sees to it that the timer fires at due or before. A timer that fires too
// early is armed again, so it runs on from call to call: for most of them it
// need not be touched at all. c.due is set before.
func (w *worker) arm(due time.Time) {
	if due.IsZero() {
		return
	}
	at := cmp.Or(int64(w.exec.instant(due)), 1) // 0 says that it does not run
	if w.armedBefore(at) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armedBefore(at) { // the worker and its timer may both be here
		return
	}
	w.armed.Store(at)
	if w.timer == nil {
		w.timer = w.exec.after(w.exec.until(due), w.fire)
		return
	}
	w.timer.Reset(w.exec.until(due))
}

// armedBefore reports whether the timer fires at an instant or before.
func (w *worker) armedBefore(at int64) bool {
	armed := w.armed.Load()
	return armed != 0 && armed <= at && at != math.MaxInt64 // where instants end
}

// fire looks whether the time of the current call is up. It takes note that the
// timer has stopped before it looks at the call: whoever changes the call
// meanwhile sees that the timer must be armed.
func (w *worker) fire() {
	w.armed.Store(0)
	if c := w.current.Load(); c != nil {
		w.arm(c.expire())
	}
}
