package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// returnedLate reports whether the handler has returned after its deadline. The clock is read once
// and decides whether the timer or the handler came first (SEMANTICS section 6.1). The result of a
// handler that returned in time then has a deadline of its own, because code of the tool, such as an
// error's text, may hang like a handler.
func (c *call) returnedLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := c.life.Return(c.clock(), c.ends(), c.mayRetryTimeout())
	if late && c.life.Phase() == lifecycle.Grace {
		c.running.cancel(whyDeadline)
	}
	return late
}

// decideInTime reports whether the result of the handler may become the outcome now. After that
// only this outcome ends the call, or a cause from outside.
func (c *call) decideInTime() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.life.Decide(c.clock())
}

// mayRetryTimeout reports whether a handler that runs past its deadline gets a grace. If the
// handler returns within the grace, it is run again. c.mu is held.
func (c *call) mayRetryTimeout() bool {
	r := c.tool.spec.Retry
	return r != nil && r.OnTimeout && c.tool.spec.Idempotent && c.life.Attempt() <= r.Max
}

// enterGrace ends an attempt whose deadline was over at a moment, but not the call, when the handler
// may be run again. The handler has a grace in which to return. c.mu is held.
func (c *call) enterGrace(at lifecycle.Moment, now time.Time) bool {
	if at.Phase() != lifecycle.Running || !c.mayRetryTimeout() || !c.life.EnterGrace(at, now) {
		return false
	}
	c.running.cancel(whyDeadline)
	return true
}
