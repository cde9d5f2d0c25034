package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// A Code says why an action was not done. Journals, events and the results of commands hold the
// same texts. The set is closed.
type Code string

// The codes that several actions have.
const (
	CodeUnknownCall        Code = "unknown_call"        // there is no such call
	CodeJournalUnavailable Code = "journal_unavailable" // the journal cannot be written; after Cancel the call has ended nevertheless
	CodeExpired            Code = "expired"             // Undo: the time for it is over; Revoke: the grant has ended
)

// The code of Cancel.
const (
	CodeAlreadyEnded Code = "already_ended" // the call has its outcome
)

// The codes of Resolve.
const (
	CodeNotUnknown Code = "not_unknown" // the outcome of the call is known, or the call is still running
	CodeBusy       Code = "busy"        // the call is being undone or reconciled
)

// The codes of Undo, with the three that several actions have. They are checked in this order.
const (
	CodeAlreadyUndone Code = "already_undone"
	CodeNotUndoable   Code = "not_undoable"    // the tool declares no undo, or what the undo needs is lost
	CodeNotSuccessful Code = "not_successful"  // the call had no effect
	CodeStillRunning  Code = "still_running"   // the call, its handler or another undo of the call
	CodeDenied        Code = "denied"          // by the policy
	CodeDrift         Code = "drift"           // the undo handler returned ErrDrift
	CodeHandlerError  Code = "handler_error"   // the undo handler failed
	CodeTimedOut      Code = "timed_out"       // the undo handler ran past the deadline of the tool
	CodeCancelled     Code = "cancelled"       // the context of Undo ended, or the executor was shut down
	CodeCommitFailed  Code = "commit_failed"   // a participant could not commit what the undo handler did
	CodeUnknown       Code = "unknown"         // it is not known whether what the undo handler did was committed
	CodeInterrupted   Code = "interrupted"     // the process stopped while the undo handler ran: Recover says so in an event
	CodeNothingToUndo Code = "nothing_to_undo" // the tool only reads
	CodeFailed        Code = "failed"          // of a run: calls of UndoResult.Failed were not undone
)

// The codes of Revoke, with the two that several actions have.
const (
	CodeUnknownRequest  Code = "unknown_request"  // no request with this id led to a grant
	CodeAlreadyResolved Code = "already_resolved" // the grant was revoked before
	CodeNotPermitted    Code = "not_permitted"    // by is empty
)

// An ActionError says why Cancel, Resolve, Undo or Revoke did not do what it was called for. All
// errors of these methods are of this type: find it with errors.As.
type ActionError struct {
	Code Code

	// Message is the cause of a failed undo, as a model may see it. It has the error of the undo
	// handler only with safe_errors or Public.
	Message string

	// Detail is the cause, for operators. Sensitive values of the call are removed.
	Detail string

	// Attempted says that an undo was begun. What its handler did outside of participants is then
	// not known.
	Attempted bool

	cause error
}

// Error returns the code and the detail.
func (e *ActionError) Error() string {
	if e.Detail == "" {
		return string(e.Code)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Detail)
}

// Unwrap returns the error of the handler, the policy, a participant or the journal; nil when there
// is none. Its text may hold sensitive values.
func (e *ActionError) Unwrap() error { return e.cause }

// The results of actions, as journals, events and the results of commands write them.
const (
	resultOK       = "ok"
	resultRejected = "rejected" // nothing was tried
	resultFailed   = "failed"
)

// ResultOf returns how journals and the results of commands write an error of Cancel, Resolve or
// Undo: ok, rejected when nothing was tried, or failed. The code is empty when the result says
// everything.
func ResultOf(err error) (result string, code Code) {
	if err == nil {
		return resultOK, ""
	}
	e, ok := errors.AsType[*ActionError](err)
	switch {
	case !ok, e.Code == CodeFailed:
		return resultFailed, ""
	case e.Attempted:
		return resultFailed, e.Code
	}
	return resultRejected, e.Code
}

// actionError returns an error with a code, nil when there is no code.
func actionError(why Code) error {
	if why == "" {
		return nil
	}
	return &ActionError{Code: why}
}

// A CallError is a fault that is meant for operators, and never for a model. Its text has no value of a
// member of the input that is marked x-sensitive (SEMANTICS 2.4.4); those of Err and Panic may.
type CallError struct {
	Tool, CallID, SessionID, RunID string

	Reason runtime.Reason // ReasonNone: the call was not affected
	Err    error
	Panic  any    // value of a panic, when there was one
	Stack  []byte // of that panic

	cachedText string // the text of Err or Panic, read once in the goroutine that they came from
	reported   bool   // to the error handler
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

// redact takes sensitive values out of the text of e, by a function that knows them, unless the error
// handler has it. Err and Panic stay as they are.
func (e *CallError) redact(hide func(string) string) *CallError {
	if !e.reported {
		e.cachedText = hide(e.text())
	}
	return e
}

// text describes the fault without the call.
func (e *CallError) text() string {
	switch {
	case e.cachedText != "":
		return e.cachedText
	case e.Panic != nil:
		return fmt.Sprintf("panic: %v", e.Panic)
	case e.Err != nil:
		return usercode.ErrorText(e.Err)
	}
	return e.Reason.String()
}
