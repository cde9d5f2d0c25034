package runtime

import (
	"cmp"
	"math/rand/v2"
	"time"
)

// The defaults of a Retry whose fields are zero (SEMANTICS section 8).
const (
	DefaultRetryInitial = time.Second
	DefaultRetryCap     = 30 * time.Second
)

// attempts runs the handler until it need not, or must not, be run again. All
// attempts are one call: they share its slot, its consent and its claims.
func (c *call) attempts() bool {
	for {
		if !c.invoke() {
			return false
		}
		if c.tool.spec.Retry == nil {
			return c.finish()
		}
		late := c.overran()
		if !c.retryable(late) {
			return c.finishOr(late)
		}
		wait := c.tool.spec.Retry.backoff(c.attempt)
		if !c.affords(wait) || !c.giveUpAttempt() {
			return c.finishOr(late)
		}
		if !c.backOff(wait) || !c.restart() {
			return false
		}
	}
}

// overran reports whether the handler has returned after its time was up.
func (c *call) overran() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase == phaseGrace
}

// finishOr finishes the call, or ends it because its time was up.
func (c *call) finishOr(late bool) bool {
	if !late {
		return c.finish()
	}
	var e ending
	c.result(&e)
	c.timeOut(0)
	c.late(e.fault, e.output)
	return true
}

// retryable reports whether the handler may be run once more: only that of a
// tool that may run twice, after its time was up or when a resource was not there.
func (c *call) retryable(late bool) bool {
	spec := c.tool.spec
	if !spec.Idempotent || c.attempt > spec.Retry.Max || c.isAborted() {
		return false
	}
	return late || c.worker.err != nil && exhausted(c.worker.err)
}

// affords reports whether enough of the turn's budget is left for another attempt
// after a wait.
func (c *call) affords(wait time.Duration) bool {
	ends := c.ends()
	return ends.IsZero() || ends.Sub(c.clock()) >= wait+c.exec.minimum
}

// giveUpAttempt takes back what the present attempt did and notes that there will
// be another. It reports false when the call has ended, or not everything is as it
// was.
func (c *call) giveUpAttempt() bool {
	var text string
	if err := c.worker.err; err != nil && c.exec.told() {
		text = c.scrub(errorText(err))
	}
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return false
	}
	c.phase, c.due = phaseBackoff, time.Time{}
	drained := c.fence.shut()
	c.mu.Unlock()
	if drained != nil && !c.exec.waitFor(drained, grace) || !c.rollback() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	c.parts = nil
	c.transition(EventRetrying, StateExecuting, &note{at: c.clock(), text: text})
	return true
}

// backoff returns how long to wait after a number of attempts: twice as long each
// time, up to a cap, and somewhat less, so that calls that failed together do not
// come back together.
func (r *Retry) backoff(attempts int) time.Duration {
	d, most := cmp.Or(r.Initial, DefaultRetryInitial), cmp.Or(r.Cap, DefaultRetryCap)
	for i := 1; i < attempts && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d - rand.N(d/2+1)
}

// backOff waits. It reports false when the call has ended meanwhile.
func (c *call) backOff(wait time.Duration) bool {
	late := newSignal()
	t := c.exec.after(wait, func() { c.exec.fire(late) })
	defer t.Stop()
	return c.exec.wait(late, c.over(), nil) == sawA
}

// restart begins the next attempt. It reports false when the call has ended.
func (c *call) restart() bool {
	if why := c.exec.crew.stop.Load(); why != 0 {
		c.halted(why)
		return false
	}
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return false
	}
	c.now = c.clock()
	due := c.now.Add(c.tool.spec.deadline())
	if ends := c.ends(); !ends.IsZero() && ends.Before(due) {
		due = ends
	}
	c.attempt++
	c.fence, c.sealing = fence{}, nil
	c.running = &callContext{parent: c.work, call: c, attempt: c.attempt, due: due}
	c.phase, c.due = phaseRunning, due
	c.mu.Unlock()
	c.worker.arm(due)
	return true
}

// mayRetryTimeout reports whether a handler that outlives its deadline gets a
// grace in which it may return, to be run again then. c.mu is held.
func (c *call) mayRetryTimeout() bool {
	r := c.tool.spec.Retry
	return r != nil && r.OnTimeout && c.tool.spec.Idempotent && c.attempt <= r.Max
}

// outlive ends an attempt whose time is up, but not the call, when the handler
// may be run again: it has a grace in which it returns. It returns the end of that grace, zero when the call ends now.
func (c *call) outlive() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.phase != phaseRunning || !c.mayRetryTimeout() {
		return time.Time{}
	}
	c.running.cancel(whyDeadline)
	c.fence.shut()
	c.phase, c.due = phaseGrace, c.clock().Add(grace)
	return c.due
}
