package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// An interruptedUndo is what the journal says of an undo that has not ended.
type interruptedUndo struct {
	by     string
	sealed []journal.Seal // nil: no decision to commit is recorded
	undoes *rules.Event   // the change of the rule state with that decision; nil: none
}

// undoBy folds a record of an undo of c.
func (c *foldedCall) undoBy(r *journal.Record) {
	switch r.Kind {
	case journal.KindUndoStarted:
		c.undo = &interruptedUndo{by: r.By}
	case journal.KindUndoDecided:
		c.undo = &interruptedUndo{by: r.By, sealed: r.Sealed, undoes: r.Undoes}
	case runtime.EventUndone.String():
		c.undone, c.undo = true, nil
	case runtime.EventUndoFailed.String():
		c.undo = nil
	}
}

// undoneCall returns the call of an undo that was interrupted. The call itself has ended.
func (e *Executor) undoneCall(r *foldedCall) *call {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	rec := r.session.calls.find(r.id)
	if rec.call != nil {
		return rec.call
	}
	return e.callOf(r, rec)
}

// settleInterruptedUndo settles an undo that the former owner of the journal had begun. It commits
// the undo when that was decided. Otherwise it rolls back what the undo did through participants,
// and the undo can be tried again.
func (c *call) settleInterruptedUndo(ctx context.Context, u *interruptedUndo, left []*participant) {
	s := c.run.session
	key := runtime.CallKey{Session: s.id, Call: c.id, Undo: true}
	fault := &undoFault{why: CodeInterrupted}
	if u.sealed == nil {
		fault.err = errors.New("the executor stopped while the undo handler ran: it may have taken effect outside of participants")
		fault.kept = !c.exec.settle(ctx, key, left, false)
		c.settleUndoFailed(u.by, fault)
		return
	}
	settled := c.exec.settle(ctx, key, left, true)
	for _, seal := range u.sealed {
		if seal.Foreign {
			fault.why, fault.err = CodeUnknown, fmt.Errorf("it is not known whether participant %q has committed", seal.Participant)
			c.settleUndoFailed(u.by, fault)
			return
		}
	}
	s.mu.Lock()
	if !settled { // the next recovery tries again; until then no other undo may begin
		c.record.undo.busy = true
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := c.exec.sched.Now()
	if ev := u.undoes; ev != nil {
		ev.At = s.exec.instant(now)
		if s.state.RunState(ev.Run) == rules.RunClosed { // closed after the decision
			ev.Run, ev.Status, ev.State = "", 0, rules.RunRunning
		}
		if err := s.state.Apply(ev); err == nil {
			s.note(ev)
		}
	}
	c.undone(now, u.by)
}
