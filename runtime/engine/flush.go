package engine

import (
	"context"
	"fmt"
	"sync"
)

// Flush returns when sinks, the error handler and observers have taken all that happened before, or
// when ctx ends. In the second case the error says how much they have not taken. Sinks, the error
// handler and observers must not call it.
func (e *Executor) Flush(ctx context.Context) error {
	if e == nil || e.engine == nil {
		return nil
	}
	ctx = orBackground(ctx)
	if e.flush(nil, ctx.Done()) {
		return nil
	}
	return fmt.Errorf("flush: %w: %w", e.untold(), context.Cause(ctx))
}

// flush waits until all is delivered. It returns false if late fires or done is closed first.
// Either may be nil.
func (e *Executor) flush(late *signal, done <-chan struct{}) bool {
	if idle := e.observing.idle(); idle != nil && e.wait(idle, late, done) != sawA {
		return false
	}
	for _, q := range e.sinks {
		if drained := q.drained(); drained != nil && e.wait(drained, late, done) != sawA {
			return false
		}
	}
	drained := e.faults.drained() // sinks and observers may have added some
	return drained == nil || e.wait(drained, late, done) == sawA
}

// drain is flush, limited to the grace period.
func (e *Executor) drain() error {
	late := newSignal()
	t := e.after(grace, func() { e.fire(late) })
	defer t.Stop()
	if e.flush(late, nil) {
		return nil
	}
	return e.untold()
}

// untold returns an error that counts what was not delivered.
func (e *Executor) untold() error {
	var events uint64
	for _, q := range e.sinks {
		_, waiting := q.lost()
		events += waiting
	}
	_, faults := e.faults.lost()
	return fmt.Errorf("%d events and %d faults wait for sinks and the error handler, and %d observers have not returned",
		events, faults, e.observing.count())
}

// A tally counts goroutines that call code of the application.
type tally struct {
	mu      sync.Mutex
	n       int
	waiting []*signal // fired when n falls to 0
}

// begin counts a goroutine in.
func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

// end counts a goroutine out, and fires the signals when it was the last.
func (t *tally) end(e *Executor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n > 0 {
		return
	}
	for _, s := range t.waiting {
		e.fire(s)
	}
	t.waiting = nil
}

// idle returns a signal that fires when no goroutine is counted. It is nil when none is.
func (t *tally) idle() *signal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		return nil
	}
	s := newSignal()
	t.waiting = append(t.waiting, s)
	return s
}

// count returns the number of goroutines.
func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}
