package runtime

import (
	"context"
	"fmt"
	"sync"
)

// Flush returns when sinks, the error handler and observers have been told of all
// that happened before, or when ctx ends: then the error says how much they have
// not taken. It must not be called by one of them.
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

// flush waits until all is told, late happens or done is closed, and reports which
// it was. Either may be nil.
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

// drain is flush for the time of grace.
func (e *Executor) drain() error {
	late := newSignal()
	t := e.after(grace, func() { e.fire(late) })
	defer t.Stop()
	if e.flush(late, nil) {
		return nil
	}
	return e.untold()
}

// untold says what was not taken.
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
	waiting []*signal // happen when there are none
}

// begin counts one in.
func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

// end counts one out.
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

// idle returns what to wait for until there are none, nil when there are none.
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

// count returns how many there are.
func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}
