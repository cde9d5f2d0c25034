package engine

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A signal fires once, and wakes all goroutines that wait for it. With a Waiter, the goroutine that
// fires the signal counts the goroutines that it wakes as busy.
type signal struct {
	wire atomic.Pointer[tripwire] // nil: it has not fired and no goroutine waits
}

// A tripwire is what the goroutines that wait for a signal share. The first goroutine that parks
// makes it: most signals fire before a goroutine parks.
type tripwire struct {
	ch      chan struct{}
	waiting []*waitingCaller // guarded by the executor's waiters; used only with a Waiter
}

// tripped is the wire of all signals that have fired.
var tripped = func() *tripwire {
	w := &tripwire{ch: make(chan struct{})}
	close(w.ch)
	return w
}()

// newSignal returns a signal that has not fired.
func newSignal() *signal { return &signal{} }

// happened reports whether s has fired.
func (s *signal) happened() bool { return s.wire.Load() == tripped }

// done returns a channel that is closed when s fires.
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

// happen fires s.
func (s *signal) happen() {
	if w := s.wire.Swap(tripped); w != nil && w != tripped {
		close(w.ch)
	}
}

// signalSpins is how often a goroutine that waits for a signal yields the processor before it
// parks.
const signalSpins = 8

// spin reports whether s fires while the goroutine yields the processor a few times. A goroutine
// that waits for about a microsecond is then not parked and woken.
func (s *signal) spin() bool {
	for range signalSpins {
		if s.happened() {
			return true
		}
		goruntime.Gosched()
	}
	return s.happened()
}

// A waitingCaller is a goroutine that waits for one of several signals.
type waitingCaller struct{ woken bool }

// A waiters guards which goroutine waits for which signals, for a clock that counts busy
// goroutines.
type waiters struct{ mu sync.Mutex }

// fire fires s.
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
	sawA    = iota // the first signal fired
	sawB           // the second signal fired
	sawDone        // done was closed
)

// wait waits until a or b fires or done is closed. b and done may be nil.
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

// park tells the Waiter that this goroutine waits for a or b. It returns nil when one of them has
// fired, or there is no Waiter.
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

// unpark tells the Waiter that the goroutine does not wait any more.
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

// waitFor waits until s fires, at most for d, and reports whether it did.
func (e *Executor) waitFor(s *signal, d time.Duration) bool {
	late := newSignal()
	t := e.after(d, func() { e.fire(late) })
	saw := e.wait(s, late, nil)
	if saw == sawA {
		t.Stop()
	}
	return saw == sawA
}
