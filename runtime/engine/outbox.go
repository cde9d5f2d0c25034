package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

const (
	// maxQueued is how many values wait in an outbox before it drops further values.
	maxQueued = 8192
	// outboxPause is how long the first waiting value waits for more, so that not every value wakes
	// a goroutine.
	outboxPause = time.Millisecond
	// outboxBatch is how many waiting values are delivered without a pause.
	outboxBatch = 16
	// outboxKept is the largest capacity, in values, that an idle outbox retains.
	outboxKept = 1024
)

// An outbox delivers values to a receiver of the application, in the order in which they were
// added. It uses a goroutine of its own, which ends when no values wait. A receiver that blocks
// holds up only its outbox.
type outbox[T any] struct {
	exec    *Executor
	deliver func(*T) error        // to the receiver, which may block, panic or call runtime.Goexit
	failed  func(*T, error)       // takes the fault of a delivery
	missed  func(n uint64) T      // returns the value that tells the receiver that n values were dropped before
	full    func(dropping uint64) // dropping has begun (0), or has ended after that many values

	mu       sync.Mutex
	waiting  []T
	spare    []T
	batch    []T           // being delivered, by the goroutine
	next     int           // in batch
	soon     runtime.Timer // timer that starts the goroutine
	due      bool          // soon is set
	running  bool          // the goroutine runs
	dropping uint64        // values dropped since the receiver last took one
	dropped  uint64        // all values dropped so far
	added    uint64        // dropped values are not counted
	taken    uint64        // of added, in batches that were delivered
	waiters  []waiter
}

// A waiter waits until taken values were delivered.
type waiter struct {
	taken uint64
	done  *sched.Event
}

// add queues a copy of v. It never waits for the receiver.
func (o *outbox[T]) add(v *T) {
	o.mu.Lock()
	if len(o.waiting) >= maxQueued {
		o.dropped++
		o.dropping++
		first := o.dropping == 1
		o.mu.Unlock()
		if first {
			o.full(0)
		}
		return
	}
	o.waiting = append(o.waiting, *v)
	o.added++
	if !o.running && (!o.due || len(o.waiting) == outboxBatch) {
		o.wakeSoon()
	}
	o.mu.Unlock()
}

// wakeSoon starts the goroutine after a pause, or at once when enough values wait or time is
// simulated. o.mu is held.
func (o *outbox[T]) wakeSoon() {
	switch {
	case o.exec.sched.Simulated(), len(o.waiting) >= outboxBatch:
		o.start()
	case o.soon == nil:
		o.due = true
		o.soon = time.AfterFunc(outboxPause, o.wake)
	default:
		o.due = true
		o.soon.Reset(outboxPause)
	}
}

// wake starts the goroutine, if values wait.
func (o *outbox[T]) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.due = false
	if !o.running && len(o.waiting) > 0 {
		o.start()
	}
}

// start starts the goroutine. o.mu is held.
func (o *outbox[T]) start() {
	o.running = true
	o.exec.sched.Busy(1)
	go o.run()
}

// run delivers the waiting values until there are none. When the receiver panics or calls
// runtime.Goexit, another goroutine continues.
func (o *outbox[T]) run() {
	left := true
	defer func() {
		defer o.exec.sched.Busy(-1)
		if !left {
			return
		}
		err := errExited
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		o.failed(&o.batch[o.next-1], err)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.start()
	}()
	for o.next < len(o.batch) || o.take() {
		v := &o.batch[o.next]
		o.next++
		if err := o.deliver(v); err != nil {
			o.failed(v, err)
		}
	}
	left = false
}

// take counts the delivered batch, and makes the waiting values the next batch. It reports false
// when no values wait; the goroutine then ends.
func (o *outbox[T]) take() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken += uint64(len(o.batch))
	o.waiters = slices.DeleteFunc(o.waiters, func(w waiter) bool {
		if w.taken > o.taken {
			return false
		}
		o.exec.sched.Fire(w.done)
		return true
	})
	if o.batch != nil {
		clear(o.batch)
		o.spare, o.batch, o.next = o.batch[:0], nil, 0
	}
	if len(o.waiting) == 0 {
		o.running = false
		if cap(o.spare) > outboxKept {
			o.spare = nil
		}
		return false
	}
	o.batch, o.waiting, o.spare = o.waiting, o.spare, nil
	if n := o.dropping; n > 0 {
		o.dropping = 0
		o.added++
		o.batch = append(o.batch, o.missed(n))
		o.full(n)
	}
	return true
}

// drained returns a signal that fires when all values that were added have been delivered. It is
// nil when they have been.
func (o *outbox[T]) drained() *sched.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken == o.added {
		return nil
	}
	if !o.running {
		o.start()
	}
	w := waiter{o.added, sched.NewEvent()}
	o.waiters = append(o.waiters, w)
	return w.done
}

// lost returns how many values were dropped, and how many wait.
func (o *outbox[T]) lost() (dropped, waiting uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped, o.added - o.taken
}

// A sinkQueue delivers events to one sink.
type sinkQueue struct {
	outbox[runtime.Event]
	sink   runtime.Sink
	memory *runtime.MemorySink // takes events directly, without the queue
}

// open sets up the queue of a sink.
func (q *sinkQueue) open(e *Executor, s runtime.Sink) {
	q.sink = s
	q.memory, _ = s.(*runtime.MemorySink)
	q.exec = e
	q.deliver = s.Emit
	q.failed = func(ev *runtime.Event, err error) { e.sinkFault(s, ev, err) }
	q.missed = func(n uint64) runtime.Event {
		return runtime.Event{Time: e.sched.Now(), Kind: runtime.EventSinkDropped, Dropped: n}
	}
	q.full = func(n uint64) {
		text := fmt.Errorf("sink %T takes no events: %d wait for it, and what comes is dropped", s, maxQueued)
		if n > 0 {
			text = fmt.Errorf("sink %T takes events again: %d were dropped", s, n)
		}
		e.report(&CallError{Err: text})
	}
}

// emit delivers or queues ev. The executor's lock of events is held.
func (q *sinkQueue) emit(ev *runtime.Event) {
	if q.memory == nil {
		q.add(ev)
		return
	}
	if err := q.memory.Emit(ev); err != nil {
		q.exec.sinkFault(q.sink, ev, err)
	}
}

// sinkFault reports the fault of a sink to the error handler.
func (e *Executor) sinkFault(s runtime.Sink, ev *runtime.Event, err error) {
	e.report(&CallError{
		Tool: ev.Tool, CallID: ev.CallID, SessionID: ev.SessionID, RunID: ev.RunID,
		Err: fmt.Errorf("sink %T, event %d: %w", s, ev.Seq, err),
	})
}

var errDropped = errors.New("faults were dropped")

// openFaults sets up the queue of the error handler.
func (e *Executor) openFaults() {
	o := &e.faults
	o.exec = e
	o.deliver = func(f **CallError) error {
		e.onError(*f)
		return nil
	}
	o.failed = func(**CallError, error) {} // no receiver is told a fault of the error handler itself
	o.missed = func(n uint64) *CallError {
		return &CallError{Err: fmt.Errorf("%w because the error handler did not return: %d", errDropped, n)}
	}
	o.full = func(uint64) {}
}
