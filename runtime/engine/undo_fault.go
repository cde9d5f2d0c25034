package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
)

// An undoFault says why a call was not undone.
type undoFault struct {
	why           Code
	err           error
	notRolledBack bool // what the handler did through participants was not rolled back
	pending       bool // a decided commit continues, and concludes the undo when it ends
	byPolicy      bool // a policy has decided so: it is no fault of the program
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
