package action

import (
	"errors"
	"fmt"
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

// Undecided reports whether an act is not permitted only because the operator policy could not say so: it has failed, or
// took too long. It may be allowed a moment later.
func Undecided(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == CodeNotPermitted && e.Err != nil
}

// Err returns an *Error with the code, nil when the code is empty.
func (c Code) Err() error {
	if c == "" {
		return nil
	}
	return &Error{Code: c}
}

// An Error says why Cancel, Resolve, Undo or Revoke did not do what it was called for. All
// errors of these methods are of this type: find it with errors.As.
type Error struct {
	Code Code

	// Message is the cause of a failed undo, as a model may see it. It has the error of the undo
	// handler only with safe_errors or Public.
	Message string

	// Detail is the cause, for operators. Sensitive values of the call are removed.
	Detail string

	// Attempted says that an undo was begun. What its handler did outside of participants is then
	// not known.
	Attempted bool

	// Err is the error of the handler, the policy, a participant or the journal; nil when there is
	// none. Its text may hold sensitive values.
	Err error
}

// Error returns the code and the detail.
func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Code)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Detail)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

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
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok, e.Code == CodeFailed:
		return resultFailed, ""
	case e.Attempted:
		return resultFailed, e.Code
	}
	return resultRejected, e.Code
}
