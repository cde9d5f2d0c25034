package workers

import (
	"cmp"
	"math"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// A Worker is a goroutine that works on one job after the other, with the timer that watches it.
type Worker[J, S any] struct {
	Scratch S // of the worker; it keeps its values from one job to the next

	next    atomic.Pointer[J] // set by Take
	current atomic.Pointer[J] // watched by the timer
	armed   atomic.Int64      // the instant at which the timer fires; 0: it does not run

	pool  *Pool[J, S]
	place int // in all; guarded by the pool
	mu    lockorder.Mutex[lockorder.Worker]
	timer runtime.Timer
}

// run works on job and on the jobs that come after it. A job may end it by runtime.Goexit.
func (w *Worker[J, S]) run(job *J) {
	defer w.pool.remove(w)
	defer w.stop()
	for job != nil {
		w.current.Store(job)
		w.serve(job)
		job = w.pool.nextJob(w)
	}
}

// serve works on a job, and counts the worker as no longer busy when it is done. In a simulation no timer of the
// job is left by then: whether the next job has this worker or a new one must not change the order of timers.
func (w *Worker[J, S]) serve(job *J) {
	defer w.pool.sched.Busy(-1)
	if w.pool.sched.Counts() {
		defer w.armed.Store(0)
		defer w.stop()
	}
	w.pool.serve(job, w)
}

// stop stops the timer for good.
func (w *Worker[J, S]) stop() {
	w.current.Store(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// Arm makes sure that the timer fires at due or before; a zero due changes nothing. A timer that
// fires too early is armed again, so one timer serves many jobs and most jobs need not reset it.
// The caller stores in the job when its time is over before it calls Arm.
func (w *Worker[J, S]) Arm(due time.Time) {
	if due.IsZero() {
		return
	}
	at := cmp.Or(int64(due.Sub(w.pool.zero)), 1) // 0 means that the timer does not run
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
		w.timer = w.pool.sched.After(w.pool.sched.Until(due), w.fire)
		return
	}
	w.timer.Reset(w.pool.sched.Until(due))
}

// armedBefore reports whether the timer fires at an instant or before.
func (w *Worker[J, S]) armedBefore(at int64) bool {
	armed := w.armed.Load()
	return armed != 0 && armed <= at && at != math.MaxInt64 // the last instant
}

// fire checks whether the current job is overdue. It clears armed before it looks at the job, so
// that a goroutine that changes the job meanwhile sees that the timer must be armed.
func (w *Worker[J, S]) fire() {
	w.armed.Store(0)
	if job := w.current.Load(); job != nil {
		w.Arm(w.pool.expire(job))
	}
}
