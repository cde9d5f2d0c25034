package engine

import (
	"runtime/debug"

	"github.com/ambit-tools/ambit/runtime"
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

// setFailed sets e to the result of a call whose handler failed.
func (c *work) setFailed(e *result, message string, fault *CallError) {
	e.event, e.to, e.fault = runtime.EventFailed, runtime.StateFailed, fault
	e.outcome.Kind, e.outcome.Reason, e.outcome.Message = runtime.Failed, fault.Reason, message
	e.outcome.Obligations = c.obligations
}
