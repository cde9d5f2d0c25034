package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// TestRefuseUndo: the first reason that applies refuses an undo, and none does while the call has taken effect, its
// time is not over and its handler has returned.
func TestRefuseUndo(t *testing.T) {
	const grace = 5 * time.Second
	ended := time.Unix(1_000, 0)
	undoable := &tools.Tool{Spec: &runtime.Spec{Name: "a", Undo: &runtime.UndoSpec{TTL: time.Minute}}}
	if !undoable.Undoable() {
		t.Fatal("the tool of this test is not undoable")
	}
	for name, row := range map[string]struct {
		tool    *tools.Tool
		kind    runtime.OutcomeKind
		undo    undoState
		runs    bool // it has not ended
		waited  bool // for consent
		invoked bool
		after   time.Duration
		running bool // its handler
		why     action.Code
	}{
		"completed":           {tool: undoable, kind: runtime.Completed, undo: undoState{Possible: true}, running: true},
		"undone":              {tool: nil, kind: runtime.Completed, undo: undoState{Done: true}, why: action.CodeAlreadyUndone},
		"not declared":        {tool: nil, kind: runtime.Completed, undo: undoState{Possible: true}, why: action.CodeNotUndoable},
		"lost":                {tool: undoable, kind: runtime.Completed, undo: undoState{Possible: true, Lost: errors.New("erased")}, why: action.CodeNotUndoable},
		"waits for consent":   {tool: undoable, runs: true, waited: true, why: action.CodeNotSuccessful},
		"runs after consent":  {tool: undoable, runs: true, waited: true, invoked: true, why: action.CodeStillRunning},
		"runs":                {tool: undoable, runs: true, why: action.CodeStillRunning},
		"was not started":     {tool: undoable, kind: runtime.Denied, why: action.CodeNotSuccessful},
		"failed":              {tool: undoable, kind: runtime.Failed, undo: undoState{Possible: true}, why: action.CodeNotSuccessful},
		"at the last instant": {tool: undoable, kind: runtime.Completed, undo: undoState{Possible: true}, after: time.Minute - 1},
		"too late":            {tool: undoable, kind: runtime.Completed, undo: undoState{Possible: true}, after: time.Minute, why: action.CodeExpired},
		"busy":                {tool: undoable, kind: runtime.Completed, undo: undoState{Possible: true, Busy: true}, why: action.CodeStillRunning},
		"timed out":           {tool: undoable, kind: runtime.TimedOut, undo: undoState{Possible: true}},
		"its handler lingers": {tool: undoable, kind: runtime.TimedOut, undo: undoState{Possible: true}, running: true, after: grace - 1, why: action.CodeStillRunning},
		"its grace is over":   {tool: undoable, kind: runtime.Unknown, undo: undoState{Possible: true}, running: true, after: grace},
	} {
		t.Run(name, func(t *testing.T) {
			r := &callRecord{ID: "c", Tool: "a", Undo: row.undo}
			r.Undo.Ended = ended
			if row.waited {
				r.Final = sched.NewEvent()
			}
			if row.invoked {
				r.Reservation = reservedAndInvoked
			}
			if !row.runs {
				r.end(runtime.Outcome{Kind: row.kind})
			}
			assert.Equal(t, row.why, r.RefuseUndo(row.tool, ended.Add(row.after), grace, func() bool { return !row.running }))
		})
	}
}

// TestUndoSince: the time of an undo that an earlier process was asked for is not known.
func TestUndoSince(t *testing.T) {
	asked := time.Unix(1_000, 0)
	assert.Equal(t, 3*time.Second, (&undoState{Asked: asked}).Since(asked.Add(3*time.Second)))
	assert.Zero(t, new(undoState).Since(asked))
}

// TestClaim: an unknown call is claimed once, and no other call is.
func TestClaim(t *testing.T) {
	r := &callRecord{ID: "c", Tool: "a"}
	assert.Equal(t, action.CodeNotUnknown, r.Claim(true), "it has not ended")
	r.end(runtime.Outcome{Kind: runtime.Unknown})
	assert.Equal(t, action.CodeNotUnknown, r.Claim(false))
	assert.Empty(t, r.Claim(true))
	assert.Equal(t, action.CodeBusy, r.Claim(true))
	r.Undo.Busy, r.Undo.Done = false, true
	assert.Equal(t, action.CodeNotUnknown, r.Claim(true))
	done := &callRecord{ID: "d", Tool: "a"}
	done.end(runtime.Outcome{Kind: runtime.Completed})
	assert.Equal(t, action.CodeNotUnknown, done.Claim(true))
}

// TestUndone: a call without an error was undone.
func TestUndone(t *testing.T) {
	r := &successfulCall{ID: "c", Tool: "a"}
	assert.Equal(t, action.UndoneCall{CallID: "c", Tool: "a"}, r.Undone(nil))
	why := &action.Error{Code: action.CodeBusy}
	assert.Equal(t, action.UndoneCall{CallID: "c", Tool: "a", Err: why}, r.Undone(why))
}
