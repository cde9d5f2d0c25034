package engine

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
)

// newFault returns a fault of c. It reads the text of err at once, because the Error method of user
// code may hang. The caller therefore holds no lock, unless err is an error of the engine.
func (c *ident) newFault(r runtime.Reason, err error) *CallError {
	f := &CallError{
		Tool: c.record.tool, CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id, Reason: r, Err: err,
	}
	if err != nil {
		f.cachedText = f.text()
	}
	return f
}

// panicFault returns the fault for the recovered panic value v. The deferred function that recovered
// v calls it, while the panicking stack is still in place.
func (c *ident) panicFault(v any) *CallError {
	f := c.newFault(runtime.ReasonPanic, nil)
	f.Panic, f.Stack = v, debug.Stack()
	f.cachedText = f.text()
	return f
}

// sinkFault reports the fault of a sink to the error handler.
func (e *Executor) sinkFault(s runtime.Sink, ev *runtime.Event, err error) {
	e.report(&CallError{
		Tool: ev.Tool, CallID: ev.CallID, SessionID: ev.SessionID, RunID: ev.RunID,
		Err: fmt.Errorf("sink %T, event %d: %w", s, ev.Seq, err),
	})
}

var errDropped = errors.New("faults were dropped")

// openSinks sets up the delivery of events to sinks. The error says that one is nil.
func (e *Executor) openSinks(sinks []runtime.Sink) error {
	for _, s := range sinks {
		if s == nil {
			return errors.New("a sink is nil: leave WithSink out")
		}
		q := new(outbox.Sink)
		q.Open(s, &e.sched, func(err error) { e.report(&CallError{Err: err}) }, e.sinkFault)
		e.queues = append(e.queues, q)
	}
	return nil
}

// openFaults sets up the queue of the error handler.
func (e *Executor) openFaults() {
	e.faults.Open(&e.sched, outbox.Receiver[*CallError]{
		Deliver: func(f **CallError) error {
			e.onError(*f)
			return nil
		},
		Failed: func(**CallError, error) {}, // a fault of the error handler has no receiver
		Missed: func(n uint64) *CallError {
			return &CallError{Err: fmt.Errorf("%w because the error handler did not return: %d", errDropped, n)}
		},
		Full: func(uint64) {},
	})
}

// setFailed sets e to the result of a call whose handler failed.
func (c *work) setFailed(e *result, message string, fault *CallError) {
	e.event, e.to, e.fault = runtime.EventFailed, runtime.StateFailed, fault
	e.outcome.Kind, e.outcome.Reason, e.outcome.Message = runtime.Failed, fault.Reason, message
	e.outcome.Obligations = c.obligations
}
