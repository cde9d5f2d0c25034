package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// The causes for which the workers stop.
const (
	haltShutdown = iota + 1
	haltLost     // another process owns the journal
)

// endHalted ends a call that came to a worker after the pool had stopped.
func (c *call) endHalted(why uint32) {
	switch why {
	case haltShutdown:
		c.abort()
	case haltLost:
		c.endLeaseLost()
	}
}

// abort ends a call whose handler was not started, and cancels the context of a running handler. A
// call that waits for consent continues to wait.
func (c *call) abort() {
	for {
		c.mu.Lock()
		what, moment := c.life.Abort()
		if what == lifecycle.AbortCancel {
			c.scope.Cancel(deadline.Canceled)
		}
		c.mu.Unlock()
		if what != lifecycle.AbortEnd {
			return
		}
		e := denial(runtime.ReasonShuttingDown, runtime.Detail{}, "the executor is shutting down")
		if moment.Phase() == lifecycle.Backoff { // what the earlier attempts did was rolled back
			e = shutdownCancellation()
		}
		e.cause, e.moment = lifecycle.ByShutdown, moment
		if c.finish(e) {
			return
		}
	}
}

// endLeaseLost ends a call whose executor no longer owns the journal. If its handler was not
// released, the call is not carried out. A call that waits for consent is left to the next owner.
func (c *call) endLeaseLost() {
	e := c.journalUnavailable(c.exec.log.Health())
	e.fault, e.cause = nil, lifecycle.ByLeaseIdle
	if c.finish(e) {
		return
	}
	e = cancellation(runtime.ReasonLeaseLost)
	e.cause = lifecycle.ByLease
	e.outcome.Message = "the executor does not own the journal any more: what became of the call, the next owner will say"
	c.finish(e)
}
