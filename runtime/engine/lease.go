package engine

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

const (
	// DefaultHeartbeat is how often an executor renews its ownership of the journal.
	DefaultHeartbeat = 10 * time.Second
	// DefaultStale is for how long an owner that does not renew its ownership is believed to be
	// alive, by itself and by the next owner.
	DefaultStale = 60 * time.Second
)

// leaseLost ends everything that the ownership of the journal allowed. The executor records and
// admits nothing more and cancels the handlers. A caller that waits for consent is told that the
// request is pending, because the next owner continues it.
func (e *Executor) leaseLost(cause error) {
	e.log.Fail(fmt.Errorf("the ownership of the journal is lost: %w", cause))
	e.report(&CallError{Reason: runtime.ReasonLeaseLost, Err: e.log.Health()})
	e.approvals.close()
	e.workers.halt(haltLost)
	e.undos.halt()
	e.all(e.workers.calls(), (*call).endLeaseLost)
}

// endLeaseLost ends a call whose executor no longer owns the journal. If its handler was not
// released, the call is not carried out. A call that waits for consent is left to the next owner.
func (c *call) endLeaseLost() {
	e := c.unwritable(c.exec.log.Health())
	e.fault, e.cause = nil, lifecycle.ByLeaseIdle
	if c.tryEnd(e) {
		return
	}
	e = cancellation(runtime.ReasonLeaseLost)
	e.cause = lifecycle.ByLease
	e.outcome.Message = "the executor does not own the journal any more: what became of the call, the next owner will say"
	c.end(*e)
}
