// Package outbox delivers values to receivers of the application that may block, panic or call
// runtime.Goexit, without holding up the engine.
package outbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

const (
	// MaxQueued is how many values wait in an outbox before it drops further values.
	MaxQueued = 8192
	// pause is how long the first waiting value waits for more, so that not every value wakes
	// a goroutine.
	pause = time.Millisecond
	// fullBatch is how many waiting values are delivered without a pause.
	fullBatch = 16
	// maxKept is the largest capacity, in values, that an idle outbox retains.
	maxKept = 1024
)

// An Outbox delivers values to a receiver of the application, in the order in which they were
// added. It uses a goroutine of its own, which ends when no values wait. A receiver that blocks
// holds up only its outbox. Open sets it up before its first use. L is the place of its lock in the
// order: Receiver.Full may add to an outbox that comes later.
type Outbox[T any, L lockorder.Lock] struct {
	sched *sched.Scheduler
	to    Receiver[T]

	mu          lockorder.Mutex[L]
	waiting     []T
	spare       []T
	batch       []T           // being delivered, by the goroutine
	next        int           // in batch
	wakeTimer   runtime.Timer // timer that starts the goroutine
	wakePending bool          // soon is set
	running     bool          // the goroutine runs
	dropping    uint64        // values dropped since the receiver last took one
	dropped     uint64        // all values dropped so far
	added       uint64        // dropped values are not counted
	taken       uint64        // of added, in batches that were delivered
	waiters     []waiter
}

// A Receiver says where the values of an Outbox go. Missed and Full are called by the goroutine
// that delivers or adds.
type Receiver[T any] struct {
	Deliver func(*T) error        // to the receiver, which may block, panic or call runtime.Goexit
	Failed  func(*T, error)       // takes the fault of a delivery
	Missed  func(n uint64) T      // returns the value that tells the receiver that n values were dropped before
	Full    func(dropping uint64) // dropping has begun (0), or has ended after that many values
}

// Open sets where values go.
func (o *Outbox[T, L]) Open(s *sched.Scheduler, to Receiver[T]) { o.sched, o.to = s, to }

// A waiter waits until taken values were delivered.
type waiter struct {
	taken uint64
	done  *sched.Event
}

// Add queues a copy of v. It never waits for the receiver.
func (o *Outbox[T, L]) Add(v *T) {
	o.mu.Lock()
	if len(o.waiting) >= MaxQueued {
		o.dropped++
		o.dropping++
		first := o.dropping == 1
		o.mu.Unlock()
		if first {
			o.to.Full(0)
		}
		return
	}
	o.waiting = append(o.waiting, *v)
	o.added++
	if !o.running && (!o.wakePending || len(o.waiting) == fullBatch) {
		o.wakeSoon()
	}
	o.mu.Unlock()
}

// wakeSoon starts the goroutine after a pause, or at once when enough values wait or time is
// simulated. o.mu is held.
func (o *Outbox[T, L]) wakeSoon() {
	switch {
	case o.sched.Simulated(), len(o.waiting) >= fullBatch:
		o.start()
	case o.wakeTimer == nil:
		o.wakePending = true
		o.wakeTimer = time.AfterFunc(pause, o.wake)
	default:
		o.wakePending = true
		o.wakeTimer.Reset(pause)
	}
}

// wake starts the goroutine, if values wait.
func (o *Outbox[T, L]) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wakePending = false
	if !o.running && len(o.waiting) > 0 {
		o.start()
	}
}

// start starts the goroutine. o.mu is held.
func (o *Outbox[T, L]) start() {
	o.running = true
	o.sched.Busy(1)
	go o.run()
}

// run delivers the waiting values until there are none. When the receiver panics or calls
// runtime.Goexit, another goroutine continues.
func (o *Outbox[T, L]) run() {
	left := true
	defer func() {
		defer o.sched.Busy(-1)
		if !left {
			return
		}
		err := usercode.ErrExited
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		o.to.Failed(&o.batch[o.next-1], err)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.start()
	}()
	for o.next < len(o.batch) || o.take() {
		v := &o.batch[o.next]
		o.next++
		if err := o.to.Deliver(v); err != nil {
			o.to.Failed(v, err)
		}
	}
	left = false
}

// take counts the delivered batch, and makes the waiting values the next batch. It reports false
// when no values wait; the goroutine then ends.
func (o *Outbox[T, L]) take() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken += uint64(len(o.batch))
	o.waiters = slices.DeleteFunc(o.waiters, func(w waiter) bool {
		if w.taken > o.taken {
			return false
		}
		o.sched.Fire(w.done)
		return true
	})
	if o.batch != nil {
		clear(o.batch)
		o.spare, o.batch, o.next = o.batch[:0], nil, 0
	}
	if len(o.waiting) == 0 {
		o.running = false
		if cap(o.spare) > maxKept {
			o.spare = nil
		}
		return false
	}
	o.batch, o.waiting, o.spare = o.waiting, o.spare, nil
	if n := o.dropping; n > 0 {
		o.dropping = 0
		o.added++
		o.batch = append(o.batch, o.to.Missed(n))
		o.to.Full(n)
	}
	return true
}

// Drained returns an event that fires when all values that were added have been delivered. It is
// nil when they have been.
func (o *Outbox[T, L]) Drained() *sched.Event {
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

// Lost returns how many values were dropped, and how many wait.
func (o *Outbox[T, L]) Lost() (dropped, waiting uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped, o.added - o.taken
}
