package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An undoing is one undo of a call, and the recorder of what its handler does.
type undoing struct {
	c  *call
	by string
}

// An undoOwner owns the scope in which an undo handler runs. It has the identity of the call, except
// that it is undoing.
type undoOwner struct {
	ident
	of *call
}

// runHandler calls the undo handler and commits what it did. The handler shares the key of the
// effect of the call.
func (u undoing) runHandler(ctx context.Context, handler func(context.Context) error) *undoFault {
	c, owner := u.c, &undoOwner{ident: u.c.ident, of: u.c}
	owner.ctx, owner.began, owner.undoing = ctx, c.exec.sched.Now(), true
	return c.exec.undos.Run(ctx, &c.exec.attempts, undoRequest{
		Owner: owner, Number: c.progress.Life.Attempt(), Effect: c.progress.Scope.Effect(),
		Deadline: c.tool.Deadline(), Handler: handler, Recorder: u, Hold: c.run.session.hold, LetGo: c.run.session.letGo,
	})
}

// Started records the intent to run the handler.
func (u undoing) Started() error {
	r := newRecord(&u.c.ident, journal.KindUndoStarted, u.c.exec.sched.Now())
	r.Places = u.c.exec.places
	return u.add(&r, u.c.exec.log.Flush)
}

// Decided records the decision to commit, with the rule event of the undo.
func (u undoing) Decided(at time.Time, seals []journal.Seal) error {
	r := newRecord(&u.c.ident, journal.KindUndoDecided, u.c.exec.sched.Now())
	r.Sealed = seals
	s := u.c.run.session
	s.mu.Lock()
	if ev, err := s.memory.Rules().Undoing(s.exec.instant(at), u.c.id); err == nil {
		r.Undoes = &ev
	}
	s.mu.Unlock()
	return u.add(&r, u.c.exec.log.FlushThroughStall)
}

// Concluded records the result of an undo whose caller has left.
func (u undoing) Concluded(fault *undoFault) { u.conclude(fault) }

// add adds an entry about the undo, and returns when flush has made it durable.
func (u undoing) add(r *journal.Record, flush func(uint64) error) error {
	c, l := u.c, u.c.exec.log
	if !l.On() {
		return nil
	}
	r.By = u.by
	c.progress.Lock()
	position := c.trail.Add(r, nil)
	c.progress.Unlock()
	return flush(position)
}

// conclude records the result of the undo. If the caller of the undo left a decided commit,
// that commit calls conclude when the journal can be written again (SEMANTICS section 6.4).
func (u undoing) conclude(fault *undoFault) *action.Error {
	c, e := u.c, u.c.exec
	if fault != nil && fault.Code == action.CodeJournalUnavailable && !errors.Is(fault.Err, journal.ErrUnavailable) { // recovery settles it
		c.run.session.release(c.record)
		e.report(c.newFault(runtime.ReasonJournalUnavailable, fault.Err))
		return u.failed(fault)
	}
	res := u.record(fault)
	if err := c.trail.Flush(); err != nil {
		e.report(c.newFault(runtime.ReasonJournalUnavailable, err))
		return u.failed(&undoFault{Code: action.CodeJournalUnavailable, Err: err})
	}
	return res
}

// record applies the result of the undo, in one step of the session. fault is nil when the undo
// succeeded.
func (u undoing) record(fault *undoFault) *action.Error {
	if fault != nil {
		return u.recordFailed(fault)
	}
	c, s := u.c, u.c.run.session
	c.progress.Lock()
	defer c.progress.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.sched.Now()
	s.memory.Undone(s.exec.instant(now), c.record)
	u.done(now)
	return nil
}

// done records that the call was undone. The locks of the call and its session are held.
func (u undoing) done(now time.Time) {
	c := u.c
	c.record.Undo.Busy, c.record.Undo.Done = false, true
	c.transition(runtime.EventUndone, runtime.StateRolledBack, &note{At: now, By: u.by, Session: true, Took: c.record.Undo.Since(now)})
}

// recordFailed records that the call was not undone.
func (u undoing) recordFailed(fault *undoFault) *action.Error {
	c, res := u.c, u.failed(fault)
	c.progress.Lock()
	s := c.run.session
	s.mu.Lock()
	c.record.Undo.Busy = false
	now := s.exec.sched.Now()
	c.transition(runtime.EventUndoFailed, c.progress.State(), &note{At: now, By: u.by, Text: res.Detail, Undo: res, Took: c.record.Undo.Since(now)})
	s.mu.Unlock()
	c.progress.Unlock()
	if !fault.ByPolicy {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("undo: %w", fault.Err)).Hide(c.redactText))
	}
	return res
}

// failed returns the error of an undo that failed.
func (u undoing) failed(fault *undoFault) *action.Error {
	c := u.c
	return fault.Told(c.record.Tool, c.tool != nil && c.tool.Spec.SafeErrors, c.redactText)
}

// prepareState is prepareUndo for a tool with a prepare handler.
func (c *call) prepareState() error {
	state, err := c.tool.Hooks.Prepare(c.progress.Scope.Context(), c.values.Final)
	if err == nil {
		err = entry.CheckPrepared(state)
	}
	if err == nil {
		c.recordPrepared(state)
	}
	return err
}

// reportLost reports to the error handler why a call cannot be undone any more, if why is
// action.CodeNotUndoable for that reason. It returns a text without values.
func (s *Session) reportLost(r *callRecord, why action.Code) string {
	if why != action.CodeNotUndoable || r.Undo.Lost == nil {
		return ""
	}
	s.exec.report(&action.CallError{Tool: r.Tool, CallID: r.ID, SessionID: s.id, RunID: r.Run(), Err: r.Undo.Lost})
	return "what the undo needs cannot be had any more: the error handler was told why"
}
