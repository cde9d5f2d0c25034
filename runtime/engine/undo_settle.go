package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

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
	if ev, err := s.state.Undo(s.exec.instant(now), c.id); err == nil {
		s.addRuleEvent(&ev)
	}
	c.undone(now, by)
	return nil
}

// undone records that c was undone. The locks of c and its session are held.
func (c *call) undone(now time.Time, by string) {
	c.record.undo.busy, c.record.undo.done = false, true
	c.transition(runtime.EventUndone, runtime.StateRolledBack, &note{at: now, by: by, session: true})
}

// recordUndoFailed records that c was not undone.
func (c *call) recordUndoFailed(by string, fault *undoFault) *ActionError {
	res := c.undoFailed(fault)
	c.mu.Lock()
	s := c.run.session
	s.mu.Lock()
	c.record.undo.busy = false
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
		if text, _ := publicError(fault.err); text != "" {
			return c.redactText(text)
		}
	}
	switch {
	case fault.why == CodeHandlerError && c.tool != nil && c.tool.spec.SafeErrors, fault.byPolicy:
		return operators
	case fault.why == CodeDrift:
		return fmt.Sprintf("%q cannot be undone: %v", c.record.tool, runtime.ErrDrift)
	}
	return fmt.Sprintf("%q was not undone (%v)", c.record.tool, fault.why)
}

// An undoFault says why a call was not undone.
type undoFault struct {
	why           Code
	err           error
	notRolledBack bool // what the handler did through participants was not rolled back
	pending       bool // a decided commit continues, and concludes the undo when it ends
	byPolicy      bool // a policy has decided so: it is no fault of the program
}
