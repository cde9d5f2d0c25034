package runtime

import (
	"sync"
	"time"
)

// A signal happens once, and wakes all who wait for it. Whoever lets it happen
// counts those as busy who thereby have something to do again (Waiter).
type signal struct {
	ch      chan struct{}
	fired   bool // guarded by the executor's roster, as the next; only kept for a Waiter
	waiting []*sleeper
}

// newSignal returns a signal that has not happened.
func newSignal() *signal { return &signal{ch: make(chan struct{})} }

// happened reports whether s has happened.
func (s *signal) happened() bool {
	select {
	case <-s.ch:
		return true
	default:
		return false
	}
}

// A sleeper is somebody who waits for one of several signals.
type sleeper struct{ woken bool }

// A roster knows who waits for what, for a clock that wants to know.
type roster struct{ mu sync.Mutex }

// fire lets s happen.
func (e *Executor) fire(s *signal) {
	if e.waiter == nil {
		close(s.ch)
		return
	}
	e.roster.mu.Lock()
	s.fired = true
	for _, w := range s.waiting {
		if !w.woken {
			w.woken = true
			e.waiter.Busy(1)
		}
	}
	s.waiting = nil
	e.roster.mu.Unlock()
	close(s.ch)
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
		second = b.ch
	}
	if b == nil && e.waiter == nil {
		select {
		case <-a.ch:
			return sawA
		case <-done:
			return sawDone
		}
	}
	w := e.lieDown(a, b)
	saw := sawA
	select {
	case <-a.ch:
	case <-second:
		saw = sawB
	case <-done:
		saw = sawDone
	}
	e.standUp(w)
	return saw
}

// lieDown says that somebody waits. It returns nil when there is no need to, or
// nobody wants to know.
func (e *Executor) lieDown(a, b *signal) *sleeper {
	if e.waiter == nil {
		return nil
	}
	e.roster.mu.Lock()
	defer e.roster.mu.Unlock()
	if a.fired || b != nil && b.fired {
		return nil
	}
	w := &sleeper{}
	a.waiting = append(a.waiting, w)
	if b != nil {
		b.waiting = append(b.waiting, w)
	}
	e.waiter.Busy(-1)
	return w
}

// standUp says that somebody waits no longer.
func (e *Executor) standUp(w *sleeper) {
	if w == nil {
		return
	}
	e.roster.mu.Lock()
	defer e.roster.mu.Unlock()
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
