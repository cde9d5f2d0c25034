package engine

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/undo"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An undoRun is one run of the undo handler of a call: the owner of its scope, and the recorder of
// what it does.
type undoRun struct {
	ident // of the call that is undone, except that it is undoing
	of    *call
	by    string
	entry uint64 // position of undo.started
}

// runUndoHandler calls the undo handler of c and commits what it did. The handler shares the key of
// the effect of c.
func (c *call) runUndoHandler(ctx context.Context, by string, handler func(context.Context) error) *undoFault {
	u := &undoRun{ident: c.ident, of: c, by: by}
	u.ctx, u.began, u.undoing = ctx, c.exec.sched.Now(), true
	return undoFaultOf(c.exec.undos.Run(ctx, &c.exec.attempts, undo.Request{
		Owner: u, Number: c.life.Attempt(), Effect: c.scope.Effect(),
		Deadline: deadlineOf(c.tool.spec), Handler: handler, Recorder: u,
	}))
}

// Started records the intent to run the handler.
func (u *undoRun) Started() error {
	r := u.newRecord(journal.KindUndoStarted, u.exec.sched.Now())
	return u.record(&r, u.exec.log.Flush)
}

// Decided records the decision to commit, with the rule event of the undo.
func (u *undoRun) Decided(at time.Time, seals []journal.Seal) error {
	r := u.newRecord(journal.KindUndoDecided, u.exec.sched.Now())
	r.Sealed = seals
	s := u.run.session
	s.mu.Lock()
	if ev, err := s.state.Undoing(s.exec.instant(at), u.id); err == nil {
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
