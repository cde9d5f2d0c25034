package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/entry"
)

// The arguments of an undo handler (the arguments of the call, the prepared state and the output)
// are in memory, or in the journal when the call belongs to an earlier process. Without the first
// two the call cannot be undone.

// prepareState is prepareUndo for a tool with a prepare handler.
func (c *call) prepareState() error {
	state, err := c.tool.hooks.Prepare(c.scope.Context(), c.final)
	if err == nil {
		err = entry.CheckPrepared(state)
	}
	if err == nil {
		c.recordPrepared(state)
	}
	return err
}

// undoable reports whether the present declaration of the tool has undo.
func (c *ident) undoable() bool { return c.tool != nil && c.tool.spec.Undo != nil }

// reportLost reports to the error handler why a call cannot be undone any more, if why is
// CodeNotUndoable for that reason. It returns a text without values.
func (s *Session) reportLost(r *callRecord, why Code) string {
	if why != CodeNotUndoable || r.undo.lost == nil {
		return ""
	}
	s.exec.report(&CallError{Tool: r.tool, CallID: r.id, SessionID: s.id, RunID: r.run.id, Err: r.undo.lost})
	return "what the undo needs cannot be had any more: the error handler was told why"
}
