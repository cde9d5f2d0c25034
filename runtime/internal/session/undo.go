package session

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// RefuseUndo returns why a call of a tool cannot be undone at an instant, empty when it can (docs/semantics.md
// section 4.20). t is nil when the tool is no longer declared. returned reports whether the handler of the call has
// returned; a handler that has not is given grace after the end of its call (SEMANTICS 6.7).
func (r *Record[C]) RefuseUndo(t *tools.Tool, now time.Time, grace time.Duration, returned func() bool) action.Code {
	ended := r.Done().Fired()
	switch {
	case r.Undo.Done:
		return action.CodeAlreadyUndone
	case !t.Undoable() || r.Undo.Possible && r.Undo.Lost != nil:
		return action.CodeNotUndoable
	case !ended && r.Final != nil && r.Reservation != ReservedAndInvoked:
		return action.CodeNotSuccessful
	case !ended:
		return action.CodeStillRunning
	case !r.Undo.Possible || r.Kind() == runtime.Failed:
		return action.CodeNotSuccessful
	case !now.Before(r.Undo.Ended.Add(ruleinput.UndoTTL(t.Spec))):
		return action.CodeExpired
	case r.Undo.Busy, r.Kind() != runtime.Completed && !returned() && now.Before(r.Undo.Ended.Add(grace)):
		return action.CodeStillRunning
	}
	return ""
}

// Undone returns the result of an undo of a call, which was not undone because of err. nil: it was undone.
func (r *Record[C]) Undone(err *action.Error) action.UndoneCall {
	c := action.UndoneCall{CallID: r.ID, Tool: r.Tool}
	if err != nil {
		c.Err = err
	}
	return c
}

// Claim claims a call whose outcome is unknown: no other goroutine undoes or resolves it until Undo.Busy is false
// again. It returns why the call cannot be claimed, empty when it was claimed. live says that the executor has
// what a resolution needs of the call.
func (r *Record[C]) Claim(live bool) action.Code {
	switch {
	case !r.Ended() || r.Kind() != runtime.Unknown || r.Undo.Done || !live:
		return action.CodeNotUnknown
	case r.Undo.Busy:
		return action.CodeBusy
	}
	r.Undo.Busy = true
	return ""
}
