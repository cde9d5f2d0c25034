package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// emitInvoked begins the life cycle of the call. No other goroutine has the call yet: the transition
// needs no lock.
func (c *call) emitInvoked() {
	c.unrecorded = c.exec.log.On() && c.exec.log.Stalled()
	c.transition(runtime.EventInvoked, runtime.StateDeclared, &note{at: c.now})
}

// lookup checks that the tool of the call exists.
func (c *ident) lookup() *result {
	if c.tool != nil {
		return nil
	}
	names := c.exec.reg.Names()
	return &result{
		event: runtime.EventDenied, to: runtime.StateFailed,
		outcome: runtime.Outcome{
			Kind: runtime.Denied, Reason: runtime.ReasonUnknownTool, Detail: runtime.Detail{Available: names},
			Message: fmt.Sprintf("there is no tool %s; there are: %s", wording.Quote(c.record.tool), wording.Names(names)),
		},
	}
}
