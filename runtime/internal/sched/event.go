package sched

import (
	goruntime "runtime"
	"sync/atomic"
	"time"
)

// An Event fires once, and wakes all goroutines that wait for it. The zero value has not fired. It
// must not be copied.
type Event struct {
	waiters atomic.Pointer[waiters] // nil: it has not fired and no goroutine waits
}

// A waiters is what the goroutines that wait for an event share. The first goroutine that parks
// makes it: most events fire before a goroutine parks.
type waiters struct {
	ch     chan struct{}
	parked []*parked // guarded by the Scheduler; used only with a Waiter
}

// A parked is a goroutine that waits for one of several events.
type parked struct{ woken bool }

// fired is the waiters of all events that have fired.
var fired = func() *waiters {
	w := &waiters{ch: make(chan struct{})}
	close(w.ch)
	return w
}()

// NewEvent returns an event that has not fired.
func NewEvent() *Event { return &Event{} }

// Fired reports whether e has fired.
func (e *Event) Fired() bool { return e.waiters.Load() == fired }

// Done returns a channel that is closed when e fires.
func (e *Event) Done() <-chan struct{} { return e.await().ch }

// await returns the waiters of e.
func (e *Event) await() *waiters {
	w := e.waiters.Load()
	if w == nil {
		w = &waiters{ch: make(chan struct{})}
		if !e.waiters.CompareAndSwap(nil, w) {
			w = e.waiters.Load()
		}
	}
	return w
}

// fire fires e.
func (e *Event) fire() {
	if w := e.waiters.Swap(fired); w != nil && w != fired {
		close(w.ch)
	}
}

// PastDone is a closed channel: the Done of a context that has ended.
var PastDone = func() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()

// spins is how often a goroutine that waits for an event yields the processor before it parks.
const spins = 8

// Spin reports whether e fires while the goroutine yields the processor a few times. A goroutine
// that waits for about a microsecond is then not parked and woken. It must not be used with a
// Waiter, which does not see it.
func (e *Event) Spin() bool {
	for range spins {
		if e.Fired() {
			return true
		}
		goruntime.Gosched()
	}
	return e.Fired()
}

// Fire fires e. With a Waiter, the goroutines that it wakes count as busy before Fire returns.
func (s *Scheduler) Fire(e *Event) {
	if s.waiter == nil {
		e.fire()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := e.waiters.Load(); w != nil && w != fired {
		for _, p := range w.parked {
			if !p.woken {
				p.woken = true
				s.waiter.Busy(1)
			}
		}
	}
	e.fire()
}

// A Wake says what ended a wait.
type Wake uint8

// What ended a wait.
const (
	First  Wake = iota // the first event fired
	Second             // the second event fired
	Done               // done was closed
)

// Wait waits until a or b fires or done is closed. b and done may be nil. With a Waiter, an event that has fired
// comes before a done that is closed, and a goroutine whose wait is over already stays busy: a clock that saw it
// wait would advance.
func (s *Scheduler) Wait(a, b *Event, done <-chan struct{}) Wake {
	if s.waiter != nil {
		return s.waitCounted(a, b, done)
	}
	if b == nil {
		select {
		case <-a.Done():
			return First
		case <-done:
			return Done
		}
	}
	select {
	case <-a.Done():
		return First
	case <-b.Done():
		return Second
	case <-done:
		return Done
	}
}

// waitCounted is Wait with a Waiter.
func (s *Scheduler) waitCounted(a, b *Event, done <-chan struct{}) Wake {
	if wake, over := waited(a, b, done); over {
		return wake
	}
	p := s.park(a, b)
	var second <-chan struct{}
	if b != nil {
		second = b.Done()
	}
	select {
	case <-a.Done():
	case <-second:
	case <-done:
	}
	s.unpark(p)
	wake, _ := waited(a, b, done)
	return wake
}

// waited returns what has ended a wait, and whether anything has.
func waited(a, b *Event, done <-chan struct{}) (wake Wake, over bool) {
	if a.Fired() {
		return First, true
	}
	if b != nil && b.Fired() {
		return Second, true
	}
	select {
	case <-done:
		return Done, true
	default:
		return First, false
	}
}

// WaitFor waits until e fires, at most for d, and reports whether it did.
func (s *Scheduler) WaitFor(e *Event, d time.Duration) bool {
	late := NewEvent()
	t := s.After(d, func() { s.Fire(late) })
	if s.Wait(e, late, nil) != First {
		return false
	}
	t.Stop()
	return true
}

// Sleep waits for d, until stop fires or done is closed. It returns First when d is over. stop and done may be nil.
func (s *Scheduler) Sleep(d time.Duration, stop *Event, done <-chan struct{}) Wake {
	over := NewEvent()
	t := s.After(d, func() { s.Fire(over) })
	defer t.Stop()
	return s.Wait(over, stop, done)
}

// park tells the Waiter that this goroutine waits for a or b. It returns nil when one of them has
// fired, or there is no Waiter.
func (s *Scheduler) park(a, b *Event) *parked {
	if s.waiter == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Fired() || b != nil && b.Fired() {
		return nil
	}
	p := &parked{}
	for _, e := range [...]*Event{a, b} {
		if e != nil {
			w := e.await()
			w.parked = append(w.parked, p)
		}
	}
	s.waiter.Busy(-1)
	return p
}

// unpark tells the Waiter that the goroutine does not wait any more.
func (s *Scheduler) unpark(p *parked) {
	if p == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.woken {
		p.woken = true
		s.waiter.Busy(1)
	}
}
