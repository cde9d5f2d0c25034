package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// undoneCall returns the call of an undo that was interrupted. The call itself has ended.
func (e *Executor) undoneCall(r *history.Call) *call {
	s := e.sessionOf(r.Session)
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := s.calls.find(r.ID)
	if rec.call != nil {
		return rec.call
	}
	return e.callOf(s, r, rec)
}

// settleInterruptedUndo settles an undo that the former owner of the journal had begun. It commits
// the undo when that was decided. Otherwise it rolls back what the undo did through participants,
// and the undo can be tried again.
func (c *call) settleInterruptedUndo(ctx context.Context, u *history.Undo, left []*transaction.Participant) {
	s := c.run.session
	key := runtime.CallKey{Session: s.id, Call: c.id, Undo: true}
	fault := &undoFault{why: CodeInterrupted}
	if u.Sealed == nil {
		fault.err = errors.New("the executor stopped while the undo handler ran: it may have taken effect outside of participants")
		fault.notRolledBack = !c.exec.settleParts(ctx, key, left, false)
		c.recordUndoFailed(u.By, fault)
		return
	}
	settled := c.exec.settleParts(ctx, key, left, true)
	for _, seal := range u.Sealed {
		if seal.Foreign {
			fault.why, fault.err = CodeUnknown, fmt.Errorf("it is not known whether participant %q has committed", seal.Participant)
			c.recordUndoFailed(u.By, fault)
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !settled { // the next recovery tries again; until then no other undo may begin
		c.record.undo.busy = true
		return
	}
	now := c.exec.sched.Now()
	if ev := u.Undoes; ev != nil {
		ev.At = s.exec.instant(now)
		if s.state.RunState(ev.Run) == rules.RunClosed { // closed after the decision
			ev.Run, ev.Status, ev.State = "", 0, rules.RunRunning
		}
		if err := s.state.Apply(ev); err == nil {
			s.addRuleEvent(ev)
		}
	}
	c.undone(now, u.By)
}
