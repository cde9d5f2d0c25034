package action

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// A CallError is a fault that is meant for operators, and never for a model. Its text has no value of a
// member of the input that is marked x-sensitive (SEMANTICS 2.4.4); those of Err and Panic may.
type CallError struct {
	Tool, CallID, SessionID, RunID string

	Reason runtime.Reason // ReasonNone: the call was not affected
	Err    error
	Panic  any    // value of a panic, when there was one
	Stack  []byte // of a panic, also of one that Err tells of

	// Text describes the fault without its call and without sensitive values; empty: the text of Err or
	// Panic does.
	Text string
}

// Error describes the fault and names its call.
func (e *CallError) Error() string {
	text := e.text()
	if e.CallID == "" && e.Tool == "" {
		return text
	}
	if of := wording.Call(e.CallID, e.Tool); !strings.Contains(text, of) {
		return of + ": " + text
	}
	return text
}

// Unwrap returns the error that the handler, the policy or the sink returned.
func (e *CallError) Unwrap() error { return e.Err }

// Hide takes sensitive values out of the text of a fault that was not told yet, by a function that knows them, and
// returns the fault (SEMANTICS 2.4).
func (e *CallError) Hide(hide func(string) string) *CallError {
	e.Text = hide(e.Text)
	return e
}

// text describes the fault without the call.
func (e *CallError) text() string {
	switch {
	case e.Text != "":
		return e.Text
	case e.Panic != nil:
		return fmt.Sprintf("panic: %v", e.Panic)
	case e.Err != nil:
		return usercode.ErrorText(e.Err)
	}
	return e.Reason.String()
}
