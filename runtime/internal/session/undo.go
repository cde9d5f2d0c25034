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
