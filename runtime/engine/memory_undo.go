package engine

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// RefuseUndo returns why a call of a tool cannot be undone at an instant, empty when it can (docs/semantics.md
// section 4.20). t is nil when the tool is no longer declared. returned reports whether the handler of the call has
// returned; a handler that has not is given grace after the end of its call (SEMANTICS 6.7).
func (r *callRecord) RefuseUndo(t *tools.Tool, now time.Time, grace time.Duration, returned func() bool) action.Code {
	ended := r.Done().Fired()
	switch {
	case r.Undo.Done:
		return action.CodeAlreadyUndone
	case !t.Undoable() || r.Undo.Possible && r.Undo.Lost != nil:
		return action.CodeNotUndoable
	case !ended && r.Final != nil && r.Reservation != reservedAndInvoked:
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

// A successfulCall is a call that completed and was not undone.
type successfulCall struct {
	ID, Tool string
	number   int
}

// Undone returns the result of an undo of a call, which was not undone because of err. nil: it was undone.
func (c *successfulCall) Undone(err *action.Error) action.UndoneCall {
	of := action.UndoneCall{CallID: c.ID, Tool: c.Tool}
	if err != nil {
		of.Err = err
	}
	return of
}

// Succeeded returns the calls of a run that completed and were not undone, the last first. It visits
// no calls of other runs (SEMANTICS 4.20).
func (m *memory) Succeeded(run string) (list []successfulCall) {
	for r := range m.byRun[run].all() {
		if r.Ended() && r.Kind() == runtime.Completed && !r.Undo.Done {
			list = append(list, successfulCall{r.ID, r.Tool, r.Number})
		}
	}
	for c := range m.ended.Run(run) {
		if c.Kind == runtime.Completed && !c.Undone {
			list = append(list, successfulCall{c.ID, c.Tool, c.Number})
		}
	}
	slices.SortFunc(list, func(a, b successfulCall) int { return b.number - a.number })
	return list
}

// KnowsRun reports whether a run is open, or has made a call.
func (m *memory) KnowsRun(run string) bool {
	if m.nodes[run] != nil {
		return true
	}
	for range m.byRun[run].all() {
		return true
	}
	for range m.ended.Run(run) {
		return true
	}
	return false
}

// Claim claims a call whose outcome is unknown: no other goroutine undoes or resolves it until Undo.Busy is false
// again. It returns why the call cannot be claimed, empty when it was claimed. live says that the executor has
// what a resolution needs of the call.
func (r *callRecord) Claim(live bool) action.Code {
	switch {
	case !r.Ended() || r.Kind() != runtime.Unknown || r.Undo.Done || !live:
		return action.CodeNotUnknown
	case r.Undo.Busy:
		return action.CodeBusy
	}
	r.Undo.Busy = true
	return ""
}
