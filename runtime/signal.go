package runtime

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A signal happens once, and wakes all who wait for it. Whoever lets it happen
// counts those as busy who thereby have something to do again (Waiter).
type signal struct {
	wire atomic.Pointer[tripwire] // nil: it has not happened and nobody waits
}

// A tripwire is what those who wait for a signal share. It is made for the first
// of them: most signals happen before anybody has to lie down.
type tripwire struct {
	ch      chan struct{}
	waiting []*waitingCaller // guarded by the executor's roster; only kept for a Waiter
}

// tripped is the wire of all signals that have happened.
var tripped = func() *tripwire {
	w := &tripwire{ch: make(chan struct{})}
	close(w.ch)
	return w
}()

// newSignal returns a signal that has not happened.
func newSignal() *signal { return &signal{} }

// happened reports whether s has happened.
func (s *signal) happened() bool { return s.wire.Load() == tripped }

// done returns a channel that is closed when s has happened.
func (s *signal) done() <-chan struct{} { return s.await().ch }

// await returns the wire of s.
func (s *signal) await() *tripwire {
	w := s.wire.Load()
	if w == nil {
		w = &tripwire{ch: make(chan struct{})}
		if !s.wire.CompareAndSwap(nil, w) {
			w = s.wire.Load()
		}
	}
	return w
}

// happen lets s happen.
func (s *signal) happen() {
	if w := s.wire.Swap(tripped); w != nil && w != tripped {
		close(w.ch)
	}
}

// signalSpins is how often somebody who waits for a signal lets others run before
// he lies down.
const signalSpins = 8

// spin reports whether s happens before others that can run have had a few turns
// each: who waits for what takes a microsecond need not be put to sleep and woken.
func (s *signal) spin() bool {
	for range signalSpins {
		if s.happened() {
			return true
		}
		goruntime.Gosched()
	}
	return s.happened()
}

// A waitingCaller is somebody who waits for one of several signals.
type waitingCaller struct{ woken bool }

// A waiters knows who waits for what, for a clock that wants to know.
type waiters struct{ mu sync.Mutex }

// fire lets s happen.
func (e *Executor) fire(s *signal) {
	if e.waiter == nil {
		s.happen()
		return
	}
	e.waiters.mu.Lock()
	defer e.waiters.mu.Unlock()
	if wire := s.wire.Load(); wire != nil && wire != tripped {
		for _, w := range wire.waiting {
			if !w.woken {
				w.woken = true
				e.waiter.Busy(1)
			}
		}
	}
	s.happen()
}

// The results of wait.
const (
	sawA    = iota // the first signal happened
	sawB           // the second one did
	sawDone        // done was closed
)

// wait waits until a or b happens or done is closed. b and done may be nil.
func (e *Executor) wait(a, b *signal, done <-chan struct{}) int {
	var second <-chan struct{}
	if b != nil {
		second = b.done()
	}
	if b == nil && e.waiter == nil {
		select {
		case <-a.done():
			return sawA
		case <-done:
			return sawDone
		}
	}
	w := e.park(a, b)
	saw := sawA
	select {
	case <-a.done():
	case <-second:
		saw = sawB
	case <-done:
		saw = sawDone
	}
	e.unpark(w)
	return saw
}

// park says that somebody waits. It returns nil when there is no need to, or
// nobody wants to know.
func (e *Executor) park(a, b *signal) *waitingCaller {
	if e.waiter == nil {
		return nil
	}
	e.waiters.mu.Lock()
	defer e.waiters.mu.Unlock()
	if a.happened() || b != nil && b.happened() {
		return nil
	}
	w := &waitingCaller{}
	for _, s := range [...]*signal{a, b} {
		if s != nil {
			wire := s.await()
			wire.waiting = append(wire.waiting, w)
		}
	}
	e.waiter.Busy(-1)
	return w
}

// unpark says that somebody waits no longer.
func (e *Executor) unpark(w *waitingCaller) {
	if w == nil {
		return
	}
	e.waiters.mu.Lock()
	defer e.waiters.mu.Unlock()
	if !w.woken {
		w.woken = true
		e.waiter.Busy(1)
	}
}

// waitFor waits until s happens, at most for d, and reports whether it did.
func (e *Executor) waitFor(s *signal, d time.Duration) bool {
	late := newSignal()
	t := e.after(d, func() { e.fire(late) })
	saw := e.wait(s, late, nil)
	if saw == sawA {
		t.Stop()
	}
	return saw == sawA
}
