package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// timeOut ends the call because its handler ran past the deadline.
func (c *call) timeOut(at lifecycle.Moment) {
	spec := c.tool.spec
	had := c.scope.Due().Sub(c.now)
	c.finish(&result{
		cause: lifecycle.ByTimer, moment: at, event: runtime.EventAborted, to: runtime.StateAborted,
		outcome: runtime.Outcome{
			Kind: runtime.TimedOut, Reason: runtime.ReasonDeadline, Detail: runtime.Detail{Deadline: had},
			Retryable: spec.Idempotent && spec.Retry != nil && spec.Retry.OnTimeout,
			Message:   fmt.Sprintf("%q did not finish within %s", c.record.tool, wording.Limit(had)),
		},
	})
}
