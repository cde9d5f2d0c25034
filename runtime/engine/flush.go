package engine

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/sched"
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
	return fmt.Errorf("flush: %w: %w", e.undelivered(), context.Cause(ctx))
}

// flush waits until all is delivered. It returns false if late fires or done is closed first.
// Either may be nil.
func (e *Executor) flush(late *sched.Event, done <-chan struct{}) bool {
	if idle := e.observing.Idle(); idle != nil && e.sched.Wait(idle, late, done) != sched.First {
		return false
	}
	for _, q := range e.queues {
		if drained := q.Drained(); drained != nil && e.sched.Wait(drained, late, done) != sched.First {
			return false
		}
	}
	drained := e.faults.Drained() // sinks and observers may have added some
	return drained == nil || e.sched.Wait(drained, late, done) == sched.First
}

// drain is flush, limited to the grace period.
func (e *Executor) drain() error {
	late := sched.NewEvent()
	t := e.sched.After(grace, func() { e.sched.Fire(late) })
	defer t.Stop()
	if e.flush(late, nil) {
		return nil
	}
	return e.undelivered()
}

// undelivered returns an error that counts what was not delivered.
func (e *Executor) undelivered() error {
	var events uint64
	for _, q := range e.queues {
		_, waiting := q.Lost()
		events += waiting
	}
	_, faults := e.faults.Lost()
	return fmt.Errorf("%d events and %d faults wait for sinks and the error handler, and %d observers have not returned",
		events, faults, e.observing.Number())
}
