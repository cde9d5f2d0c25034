package engine

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// A CallError is a fault that is meant for operators, and never for a model.
type CallError struct {
	Tool, CallID, SessionID, RunID string

	Reason runtime.Reason // ReasonNone: the call was not affected
	Err    error
	Panic  any    // value of a panic, when there was one
	Stack  []byte // of that panic

	said string // the text of Err or Panic, read once in the goroutine that they came from
	told bool   // the error handler was told
}

// Error describes the fault and names its call.
func (e *CallError) Error() string {
	text := e.text()
	if e.CallID == "" && e.Tool == "" {
		return text
	}
	if of := callName(e.CallID, e.Tool); !strings.Contains(text, of) {
		return of + ": " + text
	}
	return text
}

// callName names a call in a text.
func callName(id, tool string) string {
	return "call " + quote(id) + " of " + quote(tool)
}

// Unwrap returns the error that the handler, the policy or the sink returned.
func (e *CallError) Unwrap() error { return e.Err }

// text describes the fault without the call.
func (e *CallError) text() string {
	switch {
	case e.said != "":
		return e.said
	case e.Panic != nil:
		return fmt.Sprintf("panic: %v", e.Panic)
	case e.Err != nil:
		return errorText(e.Err)
	}
	return e.Reason.String()
}

// faulty returns a fault of c. It reads the text of err here, so the caller holds no lock unless
// err is an error of this package.
func (c *call) faulty(r runtime.Reason, err error) *CallError {
	f := &CallError{
		Tool: c.record.tool, CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id, Reason: r, Err: err,
	}
	if err != nil {
		f.said = f.text()
	}
	return f
}

// panicked returns the fault for the recovered panic value v. The deferred function that recovered
// v calls it, while the panicking stack is still in place.
func (c *call) panicked(v any) *CallError {
	f := c.faulty(runtime.ReasonPanic, nil)
	f.Panic, f.Stack = v, debug.Stack()
	f.said = f.text()
	return f
}

// report passes a fault to the error handler, once. It does not wait for the error handler.
func (e *Executor) report(f *CallError) {
	if e.onError == nil || f.told {
		return
	}
	f.told = true
	e.faults.add(&f)
}
