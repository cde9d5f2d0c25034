package shadow

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
)

// maxWaiting is how many calls wait for the shadow at most.
const maxWaiting = 256

// pause is how long the first waiting call waits for more, unless maxWaiting/2 calls wait before.
const pause = time.Millisecond

// A follower evaluates the calls of one executor after the policy did. The calls wait for pause, so
// that not each of them wakes the goroutine. The goroutine ends when no calls wait.
type follower struct {
	shadow *Shadow
	host   tap.Host

	mu      lockorder.Mutex[lockorder.Shadow]
	waiting []tap.Decision
	spare   []tap.Decision
	soon    runtime.Timer // timer that starts the goroutine
	due     bool          // soon is set
	running bool          // the goroutine runs
	closed  bool          // no call is added any more
	over    bool          // no difference is reported any more
	idle    *sched.Event  // fires when the follower is closed and its goroutine has ended

	watch   runtime.Timer // ends evaluations that take too long; it is reused from one evaluation to the next
	watched atomic.Bool
	current atomic.Pointer[evaluation]
}

// Decided queues a copy of a decision for the shadow.
func (f *follower) Decided(d *tap.Decision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.waiting) >= maxWaiting {
		f.shadow.dropped(1)
		return
	}
	f.waiting = append(f.waiting, *d)
	switch {
	case f.running:
	case len(f.waiting) > maxWaiting/2:
		f.start()
	case f.due:
	case f.soon == nil:
		f.due = true
		f.soon = f.host.Sched.After(pause, f.wake)
	default:
		f.due = true
		f.soon.Reset(pause)
	}
}

// wake is the function of the timer soon.
func (f *follower) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = false
	if !f.running && len(f.waiting) > 0 {
		f.start()
	}
}

// start starts the goroutine. f.mu is held.
func (f *follower) start() {
	f.running = true
	f.host.Sched.Busy(1)
	go f.run()
}

// run evaluates calls until none wait. When a policy calls runtime.Goexit, another goroutine
// continues.
func (f *follower) run() {
	var batch []tap.Decision
	next, left := 0, true
	defer func() {
		f.mu.Lock()
		if left {
			f.shadow.compared(true, false)
			f.waiting = slices.Concat(batch[next:], f.waiting)
			f.start()
		}
		f.mu.Unlock()
		f.host.Sched.Busy(-1)
	}()
	for {
		if batch = f.take(batch); batch == nil {
			left = false
			return
		}
		for next = 0; next < len(batch); {
			t := &batch[next]
			next++
			f.compare(t)
		}
		clear(batch)
	}
}

// take returns the waiting calls, in exchange for the slice of the evaluated ones. When none wait
// it returns nil, and the goroutine ends.
func (f *follower) take(done []tap.Decision) []tap.Decision {
	f.mu.Lock()
	defer f.mu.Unlock()
	if done != nil {
		f.spare = done[:0]
	}
	if len(f.waiting) == 0 {
		f.running = false
		if f.closed {
			f.host.Sched.Fire(f.idle)
		}
		return nil
	}
	batch := f.waiting
	f.waiting, f.spare = f.spare, nil
	return batch
}

// isOver reports whether no difference is reported any more.
func (f *follower) isOver() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// An evaluation is the context of one evaluation, and its age in ticks. It has no deadline that a
// clock could tell: the ticks are counted while the process runs.
type evaluation struct {
	context.Context
	done  chan struct{}
	ended atomic.Pointer[error]
	ticks int // counted by the timer only
}

// Done returns a channel that is closed when the evaluation ends.
func (e *evaluation) Done() <-chan struct{} { return e.done }

// Err returns why the evaluation ended: context.DeadlineExceeded or context.Canceled.
func (e *evaluation) Err() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// end ends the evaluation.
func (e *evaluation) end(why error) {
	if e.ended.CompareAndSwap(nil, &why) {
		close(e.done)
	}
}

// evaluation returns the context of the next evaluation. It must be ended.
func (f *follower) evaluation() *evaluation {
	e := &evaluation{Context: context.Background(), done: make(chan struct{})}
	f.current.Store(e)
	if f.watched.CompareAndSwap(false, true) {
		f.arm(f.host.Tick)
	}
	return e
}

// arm starts the timer that watches evaluations.
func (f *follower) arm(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.over:
	case f.watch == nil:
		f.watch = f.host.Sched.After(d, f.tick)
	default:
		f.watch.Reset(d)
	}
}

// tick is the function of the timer watch. It ends an evaluation that has exceeded its limit.
func (f *follower) tick() {
	e := f.current.Load()
	if e.ticks++; e.ticks >= f.host.Ticks {
		e.end(context.DeadlineExceeded)
	}
	f.watched.Store(false)
	if f.current.Load().Err() == nil && f.watched.CompareAndSwap(false, true) {
		f.arm(f.host.Tick)
	}
}

// Close has the shadow evaluate the waiting calls, for at most the time limit of one evaluation.
// Differences that are found later are not recorded.
func (f *follower) Close() {
	f.mu.Lock()
	f.closed = true
	if !f.running && len(f.waiting) > 0 {
		f.start()
	}
	running := f.running
	f.mu.Unlock()
	for n := f.host.Ticks; running && n > 0; n-- {
		running = !f.host.Sched.WaitFor(f.idle, f.host.Tick)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.shadow.dropped(len(f.waiting))
	f.waiting = nil
	for _, t := range []runtime.Timer{f.soon, f.watch} {
		if t != nil {
			t.Stop()
		}
	}
}
