package engine

import (
	"cmp"
	"math"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// poolSpins is how often a goroutine yields the processor, so that another goroutine can pass it a
// call, before it ends.
const poolSpins = 16

// A workerPool is the goroutines that work on calls. A goroutine whose call has ended looks for
// another call for a moment, because a goroutine that has grown its stack is much cheaper than a
// new one. It never blocks. Therefore a pool needs no close, and an executor that is no longer
// referenced leaves no goroutines.
type workerPool struct {
	execute func(*call)           // what a worker does
	expire  func(*call) time.Time // what its timer does; returns when to call it again, zero: not

	haltCause atomic.Uint32 // why all workers have to stop; 0: they do not
	mu        lockorder.Mutex[lockorder.Workers]
	free      []*worker
	all       []*worker
}

// A worker is a goroutine that works on one call after the other, with the timer that watches it.
type worker struct {
	next    atomic.Pointer[call] // set by take
	current atomic.Pointer[call] // watched by the timer
	armed   atomic.Int64         // the instant at which the timer fires; 0: it does not run

	input      runtime.PolicyInput // reused for each evaluation of the policy, which must not retain it
	view       view                // of the facts, reused likewise
	rulesCall  rules.Call          // for the rules, reused likewise
	effect     rules.Digest        // of the call, set by fillRulesCall
	evaluation evaluation
	tapped     *tap.Decision // for the tap, reused likewise; nil: there is none
	err        error         // of the handler

	exec  *Executor
	pool  *workerPool
	place int // in all; guarded by the pool
	mu    lockorder.Mutex[lockorder.Worker]
	timer runtime.Timer
}

// take passes a call to a worker.
func (w *workerPool) take(c *call) {
	c.exec.sched.Busy(1)
	w.mu.Lock()
	n := len(w.free)
	if n == 0 {
		started := &worker{exec: c.exec, pool: w, place: len(w.all)}
		w.all = append(w.all, started)
		w.mu.Unlock()
		go started.run(w, c)
		return
	}
	w.free[n-1].next.Store(c)
	w.free = w.free[:n-1]
	w.mu.Unlock()
}

// nextCall returns the next call for a worker, nil when none came soon.
func (w *workerPool) nextCall(free *worker) *call {
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

// remove removes a worker that has ended.
func (w *workerPool) remove(ended *worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.all[len(w.all)-1]
	w.all[ended.place], last.place = last, ended.place
	w.all[len(w.all)-1] = nil
	w.all = w.all[:len(w.all)-1]
}

// halt sets why calls that reach a worker from now on have to end.
func (w *workerPool) halt(why uint32) { w.haltCause.Store(why) }

// calls returns the calls that are being worked on, and some calls that have ended or wait for
// consent. The calls that it misses see that the pool was halted.
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

// run works on c and on the calls that come after it. A handler may end it by runtime.Goexit; by
// then leave has ended the call.
func (w *worker) run(of *workerPool, c *call) {
	defer of.remove(w)
	defer w.stop()
	for c != nil {
		c.worker = w
		w.current.Store(c)
		of.execute(c)
		c = of.nextCall(w)
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

// arm makes sure that the timer fires at due or before. A timer that fires too early is armed
// again, so one timer serves many calls and most calls need not reset it. The caller sets the end
// of the phase before it calls arm.
func (w *worker) arm(due time.Time) {
	if due.IsZero() {
		return
	}
	at := cmp.Or(int64(w.exec.instant(due)), 1) // 0 means that the timer does not run
	if w.armedBefore(at) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armedBefore(at) { // the worker and its timer may call arm at the same time
		return
	}
	w.armed.Store(at)
	if w.timer == nil {
		w.timer = w.exec.sched.After(w.exec.sched.Until(due), w.fire)
		return
	}
	w.timer.Reset(w.exec.sched.Until(due))
}

// armedBefore reports whether the timer fires at an instant or before.
func (w *worker) armedBefore(at int64) bool {
	armed := w.armed.Load()
	return armed != 0 && armed <= at && at != math.MaxInt64 // the last instant
}

// fire checks whether the current call is overdue. It clears armed before it looks at the call, so
// that a goroutine that changes the call meanwhile sees that the timer must be armed.
func (w *worker) fire() {
	w.armed.Store(0)
	if c := w.current.Load(); c != nil {
		w.arm(w.pool.expire(c))
	}
}
