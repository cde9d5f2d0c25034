package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/attempt"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/undo"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An undoFault says why a call was not undone.
type undoFault struct {
	why           Code
	err           error
	notRolledBack bool // what the handler did through participants was not rolled back
	pending       bool // a decided commit continues, and concludes the undo when it ends
	byPolicy      bool // a policy has decided so: it is no fault of the program
}

// An undoRun is one run of the undo handler of a call: the owner of its scope, and the recorder of
// what it does.
type undoRun struct {
	ident // of the call that is undone, except that it is undoing
	of    *call
	by    string
	entry uint64 // position of undo.started
}

var _ attempt.Owner = (*undoRun)(nil)

// runUndoHandler calls the undo handler of c and commits what it did. The handler shares the key of
// the effect of c.
func (c *call) runUndoHandler(ctx context.Context, by string, handler func(context.Context) error) *undoFault {
	u := &undoRun{ident: c.ident, of: c, by: by}
	u.ctx, u.began, u.undoing = ctx, c.exec.sched.Now(), true
	return undoFaultOf(c.exec.undos.Run(ctx, &c.exec.attempts, undo.Request{
		Owner: u, Number: c.life.Attempt(), Effect: c.scope.Effect(),
		Deadline: c.tool.Deadline(), Handler: handler, Recorder: u,
	}))
}

// Started records the intent to run the handler.
func (u *undoRun) Started() error {
	r := newRecord(&u.ident, journal.KindUndoStarted, u.exec.sched.Now())
	return u.record(&r, u.exec.log.Flush)
}

// Decided records the decision to commit, with the rule event of the undo.
func (u *undoRun) Decided(at time.Time, seals []journal.Seal) error {
	r := newRecord(&u.ident, journal.KindUndoDecided, u.exec.sched.Now())
	r.Sealed = seals
	s := u.run.session
	s.mu.Lock()
	if ev, err := s.memory.Rules().Undoing(s.exec.instant(at), u.id); err == nil {
		r.Undoes = &ev
	}
	s.mu.Unlock()
	return u.record(&r, u.exec.log.FlushThroughStall)
}

// Concluded records the result of an undo whose caller has left.
func (u *undoRun) Concluded(fault *undo.Fault) { u.of.concludeUndo(u.by, undoFaultOf(fault)) }

// record adds an entry about the undo, and returns when flush has made it durable.
func (u *undoRun) record(r *journal.Record, flush func(uint64) error) error {
	c, l := u.of, u.exec.log
	if !l.On() {
		return nil
	}
	r.By = u.by
	c.mu.Lock()
	c.entry = l.Add(r, nil)
	position := c.entry
	c.mu.Unlock()
	if r.Kind == journal.KindUndoStarted { // the handler has not begun
		u.entry = position
	}
	return flush(position)
}

// undoCodes has the codes of the reasons of faults.
var undoCodes = [...]Code{
	undo.HandlerError: CodeHandlerError, undo.Drift: CodeDrift, undo.TimedOut: CodeTimedOut, undo.Cancelled: CodeCancelled,
	undo.CommitFailed: CodeCommitFailed, undo.JournalUnavailable: CodeJournalUnavailable, undo.Unknown: CodeUnknown,
}

// undoFaultOf returns the fault of an undo handler, nil when there was none.
func undoFaultOf(f *undo.Fault) *undoFault {
	if f == nil {
		return nil
	}
	return &undoFault{why: undoCodes[f.Reason], err: f.Err, notRolledBack: f.NotRolledBack, pending: f.Pending}
}

// concludeUndo records the result of an undo of c. If the caller of the undo left a decided commit,
// that commit calls concludeUndo when the journal can be written again (SEMANTICS section 6.4).
func (c *call) concludeUndo(by string, fault *undoFault) *ActionError {
	e := c.exec
	if fault != nil && fault.why == CodeJournalUnavailable && !errors.Is(fault.err, journal.ErrUnavailable) { // recovery settles it
		c.releaseClaim()
		e.report(c.newFault(runtime.ReasonJournalUnavailable, fault.err))
		return c.undoFailed(fault)
	}
	res := c.run.session.recordUndo(c, by, fault)
	if err := c.awaitDurable(); err != nil {
		e.report(c.newFault(runtime.ReasonJournalUnavailable, err))
		return c.undoFailed(&undoFault{why: CodeJournalUnavailable, err: err})
	}
	return res
}

// recordUndo applies the result of an undo, in one step of the session. fault is nil when the undo
// succeeded.
func (s *Session) recordUndo(c *call, by string, fault *undoFault) *ActionError {
	if fault != nil {
		return c.recordUndoFailed(by, fault)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.sched.Now()
	s.memory.Undone(s.exec.instant(now), c.record)
	c.undone(now, by)
	return nil
}

// undone records that c was undone. The locks of c and its session are held.
func (c *call) undone(now time.Time, by string) {
	c.record.Undo.Busy, c.record.Undo.Done = false, true
	c.transition(runtime.EventUndone, runtime.StateRolledBack, &note{at: now, by: by, session: true})
}

// recordUndoFailed records that c was not undone.
func (c *call) recordUndoFailed(by string, fault *undoFault) *ActionError {
	res := c.undoFailed(fault)
	c.mu.Lock()
	s := c.run.session
	s.mu.Lock()
	c.record.Undo.Busy = false
	c.transition(runtime.EventUndoFailed, c.state, &note{at: s.exec.sched.Now(), by: by, text: res.Detail, undo: res})
	s.mu.Unlock()
	c.mu.Unlock()
	if !fault.byPolicy {
		s.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("undo: %w", fault.err)))
	}
	return res
}

// undoFailed returns the error of an undo that failed.
func (c *call) undoFailed(fault *undoFault) *ActionError {
	res := &ActionError{Code: fault.why, Attempted: fault.why != CodeDenied && fault.why != CodeDrift, cause: fault.err}
	f := c.newFault(runtime.ReasonNone, fault.err)
	res.Detail = c.redactText(f.text())
	if fault.notRolledBack {
		res.Detail += "; what the undo did was not taken back"
	}
	res.Message = c.undoMessage(fault, res.Detail)
	return res
}

// undoMessage returns what a model may read of an undo that failed; operators is the text for
// operators.
func (c *call) undoMessage(fault *undoFault, operators string) string {
	if fault.why == CodeHandlerError || fault.why == CodeDrift {
		if text, _ := tools.PublicError(fault.err); text != "" {
			return c.redactText(text)
		}
	}
	switch {
	case fault.why == CodeHandlerError && c.tool != nil && c.tool.Spec.SafeErrors, fault.byPolicy:
		return operators
	case fault.why == CodeDrift:
		return fmt.Sprintf("%q cannot be undone: %v", c.record.Tool, runtime.ErrDrift)
	}
	return fmt.Sprintf("%q was not undone (%v)", c.record.Tool, fault.why)
}

// The arguments of an undo handler (the arguments of the call, the prepared state and the output)
// are in memory, or in the journal when the call belongs to an earlier process. Without the first
// two the call cannot be undone.

// prepareState is prepareUndo for a tool with a prepare handler.
func (c *call) prepareState() error {
	state, err := c.tool.Hooks.Prepare(c.scope.Context(), c.values.Final)
	if err == nil {
		err = entry.CheckPrepared(state)
	}
	if err == nil {
		c.recordPrepared(state)
	}
	return err
}

// reportLost reports to the error handler why a call cannot be undone any more, if why is
// CodeNotUndoable for that reason. It returns a text without values.
func (s *Session) reportLost(r *callRecord, why Code) string {
	if why != CodeNotUndoable || r.Undo.Lost == nil {
		return ""
	}
	s.exec.report(&CallError{Tool: r.Tool, CallID: r.ID, SessionID: s.id, RunID: r.Run(), Err: r.Undo.Lost})
	return "what the undo needs cannot be had any more: the error handler was told why"
}
