package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
)

// An undoFault says why a call was not undone.
type undoFault struct {
	why      UndoReason
	err      error
	kept     bool // what the handler did through participants was not rolled back
	pending  bool // a decided commit continues, and concludes the undo when it ends
	expected bool // a policy has decided so: it is no fault of the program
}

// undoFailed returns the result of an undo that failed.
func (c *call) undoFailed(fault *undoFault) UndoResult {
	res := UndoResult{Kind: UndoFailed, Reason: fault.why}
	if fault.why == UndoDenied || fault.why == UndoDrift {
		res.Kind = UndoRejected
	}
	told := c.faulty(runtime.ReasonNone, fault.err)
	res.Err = c.redactText(told.text())
	if fault.kept {
		res.Err += "; what the undo did was not taken back"
	}
	res.Message = c.undoMessage(fault, res.Err)
	return res
}

// undoMessage returns what a model may read of an undo that failed; told is the text
// for operators.
func (c *call) undoMessage(fault *undoFault, told string) string {
	if fault.why == UndoHandlerError || fault.why == UndoDrift {
		if text, _ := public(fault.err); text != "" {
			return c.redactText(text)
		}
	}
	switch {
	case fault.why == UndoHandlerError && c.tool != nil && c.tool.spec.SafeErrors, fault.expected:
		return told
	case fault.why == UndoDrift:
		return fmt.Sprintf("%q cannot be undone: %v", c.record.tool, runtime.ErrDrift)
	}
	return fmt.Sprintf("%q was not undone (%v)", c.record.tool, fault.why)
}
