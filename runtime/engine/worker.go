package engine

import (
	"cmp"
	"math"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// workerSpins is how often a worker yields the processor, so that another goroutine can pass it a call, before it ends.
const workerSpins = 16

// workers are the goroutines that execute calls, one for each call that does not wait for consent. A worker whose call has
// ended looks for another call for a moment, because a goroutine that has grown its stack is much cheaper than a new one (a
// call takes 2.4 times as long with new ones). It never blocks, so that workers need no close. The methods are safe for
// concurrent use.
type workers struct {
	sched  *sched.Scheduler
	zero   time.Time // the instant 0 of the timers
	serve  func(*call, *worker)
	expire func(*call) time.Time

	haltCause atomic.Uint32 // why all workers have to stop; 0: they do not
	mu        lockorder.Mutex[lockorder.Workers]
	free      []*worker
	all       []*worker
}

// Open sets up p before its first use. serve works on a call, and may end by runtime.Goexit. expire is
// called when the time of a call may be over. It returns when to call it again, zero when it need not be
// called. zero is the instant from which timers count, which is long before the first call.
func (p *workers) Open(s *sched.Scheduler, zero time.Time, serve func(*call, *worker), expire func(*call) time.Time) {
	p.sched, p.zero, p.serve, p.expire = s, zero, serve, expire
}

// Take passes a call to a worker, which counts as busy from now on.
func (p *workers) Take(c *call) {
	p.sched.Busy(1)
	p.mu.Lock()
	n := len(p.free)
	if n == 0 {
		w := &worker{of: p, place: len(p.all)}
		p.all = append(p.all, w)
		p.mu.Unlock()
		go w.run(c)
		return
	}
	p.free[n-1].next.Store(c)
	p.free = p.free[:n-1]
	p.mu.Unlock()
}

// nextCall returns the next call for a worker, nil when none came soon.
func (p *workers) nextCall(free *worker) *call {
	p.mu.Lock()
	p.free = append(p.free, free)
	p.mu.Unlock()
	for range workerSpins {
		goruntime.Gosched()
		if free.next.Load() != nil {
			return free.next.Swap(nil)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.free, free); i >= 0 {
		p.free = slices.Delete(p.free, i, i+1)
	}
	return free.next.Swap(nil)
}

// remove removes a worker that has ended.
func (p *workers) remove(ended *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.all[len(p.all)-1]
	p.all[ended.place], last.place = last, ended.place
	p.all[len(p.all)-1] = nil
	p.all = p.all[:len(p.all)-1]
}

// Halt sets why calls that reach a worker from now on have to end. why is not 0.
func (p *workers) Halt(why uint32) { p.haltCause.Store(why) }

// Halted returns why calls have to end, 0 when they do not.
func (p *workers) Halted() uint32 { return p.haltCause.Load() }

// Calls returns the calls that are being worked on, and some that their workers have left. A call that it misses sees that the workers were halted, when Halt was
// called before.
func (p *workers) Calls() (list []*call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.all {
		if c := w.current.Load(); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// A worker is a goroutine that executes one call after the other, with the timer that watches it. It has the values that one
// step of a call leaves for the next, which each call sets anew.
type worker struct {
	policyInput runtime.PolicyInput // the policy must not retain it
	view        facts.View
	rulesCall   rules.Call
	effect      rules.Digest // of the call, set by fillRulesCall
	evaluation  evaluation
	handlerErr  error

	next    atomic.Pointer[call] // set by Take
	current atomic.Pointer[call] // watched by the timer; nil: the worker has ended
	armed   atomic.Int64         // the instant at which the timer fires; 0: it does not run
	of      *workers
	place   int // in all; guarded by the workers
	mu      lockorder.Mutex[lockorder.Worker]
	timer   runtime.Timer
}

// run executes a call and those that come after it. A call may end it by runtime.Goexit.
func (w *worker) run(c *call) {
	defer w.of.remove(w)
	defer w.stop()
	for c != nil {
		w.current.Store(c)
		w.execute(c)
		c = w.of.nextCall(w)
	}
}

// execute executes a call, and counts the worker as no longer busy when it is done. In a simulation no timer of the
// call is left by then: whether the next call has this worker or a new one must not change the order of timers.
func (w *worker) execute(c *call) {
	defer w.of.sched.Busy(-1)
	if w.of.sched.Counts() {
		defer w.armed.Store(0)
		defer w.stop()
	}
	w.of.serve(c, w)
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

// Arm makes sure that the timer fires at due or before; a zero due changes nothing. A timer that
// fires too early is armed again, so that most steps of a call need not reset it.
// The caller stores in the call when its time is over before it calls Arm.
func (w *worker) Arm(due time.Time) {
	if due.IsZero() {
		return
	}
	at := cmp.Or(int64(due.Sub(w.of.zero)), 1) // 0 means that the timer does not run
	if w.armedBefore(at) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armedBefore(at) { // the worker and its timer may call Arm at the same time
		return
	}
	w.armed.Store(at)
	if w.timer == nil {
		w.timer = w.of.sched.After(w.of.sched.Until(due), w.fire)
		return
	}
	w.timer.Reset(w.of.sched.Until(due))
}

// armedBefore reports whether the timer fires at an instant or before.
func (w *worker) armedBefore(at int64) bool {
	armed := w.armed.Load()
	return armed != 0 && armed <= at && at != math.MaxInt64 // the last instant
}

// fire checks whether the call is overdue. It clears armed before it looks at the call, so
// that a goroutine that changes the call meanwhile sees that the timer must be armed.
func (w *worker) fire() {
	w.armed.Store(0)
	if c := w.current.Load(); c != nil {
		w.Arm(w.of.expire(c))
	}
}
