package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
)

// canceledByShutdown returns the result of a call whose handler has stopped because a shutdown
// canceled it. It is nil when it was not canceled, or returned another error.
func (c *call) canceledByShutdown(err error) *result {
	if !c.scope.Aborted() || !errors.Is(err, context.Canceled) {
		return nil
	}
	return shutdownCancellation()
}

// shutdownCancellation returns the result of a call that a shutdown has stopped.
func shutdownCancellation() *result {
	e := cancellation(runtime.ReasonCancelled)
	e.outcome.Message = "the executor was shut down"
	return e
}

// enterForUndo admits an undo that a shutdown waits for, because the undo must be recorded. An undo
// that is admitted must leave the gate. Without a journal there is nothing to record, and the
// executor admits every undo.
func (e *Executor) enterForUndo() bool {
	if e.log.Health() != nil {
		return false
	}
	if e.gate.Enter() {
		return true
	}
	if e.log.On() {
		return false
	}
	e.gate.Force()
	return true
}
