package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// undoRefusal returns why a call cannot be undone, empty when it can. s.mu is held.
func (s *Session) undoRefusal(r *callRecord) Code {
	tool, _ := s.exec.lookup(r.tool)
	now := s.exec.sched.Now()
	ended := r.first.Fired() && r.final == nil || r.final != nil && r.final.Fired()
	switch {
	case r.undo.done:
		return CodeAlreadyUndone
	case tool == nil || tool.spec.Undo == nil || r.undo.possible && r.undo.lost != nil:
		return CodeNotUndoable
	case !ended && r.final != nil && r.call.reservation != reservedAndInvoked:
		return CodeNotSuccessful
	case !ended:
		return CodeStillRunning
	case !r.undo.possible || r.outcome().Kind == runtime.Failed:
		return CodeNotSuccessful
	case !now.Before(r.undo.ended.Add(ruleinput.UndoTTL(tool.spec))):
		return CodeExpired
	case r.undo.busy, r.outcome().Kind != runtime.Completed && !r.call.handlerDone.Load() && now.Before(r.undo.ended.Add(grace)):
		return CodeStillRunning
	}
	return ""
}

// undoAllowed evaluates the policy for the undo of the call.
func (c *work) undoAllowed(ctx context.Context, by operator.Actor) *undoFault {
	s := c.run.session
	s.mu.Lock()
	facts := c.run.currentFacts()
	s.mu.Unlock()
	in := c.policyInputOf(c.final, facts, c.clock())
	in.Undo, in.UndoneBy = true, by
	d, err := c.evaluateDetached(ctx, in)
	denied := &undoFault{why: CodeDenied, err: err}
	switch {
	case err != nil:
	case len(d.Denials) > 0:
		denied.byPolicy, denied.err = true, fmt.Errorf("the policy denies the undo: %s", d.Denials[0].Code)
	case d.Effect == runtime.EffectDeny:
		denied.byPolicy, denied.err = true, errors.New("no policy allows the undo")
	default:
		return nil
	}
	return denied
}

// An UndoneCall is the result for one call of the undo of a run, or of a dry run.
type UndoneCall struct {
	CallID, Tool string
	Err          error       // an *ActionError; nil: undone. A call that only reads has CodeNothingToUndo
	Later        []LaterCall // of a dry run: in the order in which they were made
	Until        time.Time   // of a dry run: the first instant that is too late; zero if Err is set
}
