package engine

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

const (
	// DefaultHeartbeat is how often an executor renews its ownership of the journal.
	DefaultHeartbeat = 10 * time.Second
	// DefaultStale is for how long an owner that does not renew its ownership is believed to be
	// alive, by itself and by the next owner.
	DefaultStale = 60 * time.Second
)

// leaseLost ends everything that the ownership of the journal allowed. The executor records and
// admits nothing more and cancels the handlers. A caller that waits for consent gets the outcome
// pending, because the next owner continues the request.
func (e *Executor) leaseLost(cause error) {
	e.log.Fail(fmt.Errorf("the ownership of the journal is lost: %w", cause))
	e.report(&CallError{Reason: runtime.ReasonLeaseLost, Err: e.log.Health()})
	e.closeApprovals()
	e.workers.Halt(haltLost)
	e.undos.Halt()
	e.forEachCall(e.workers.Jobs(), (*call).endLeaseLost)
}
