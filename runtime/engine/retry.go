package engine

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// The defaults of a Retry whose fields are zero (SEMANTICS section 8).
const (
	DefaultRetryInitial = time.Second
	DefaultRetryCap     = 30 * time.Second
)

// attempts runs the handler until it need not, or must not, be run again. All attempts are one
// call: they share its slot, its consent and its claims.
func (c *call) attempts() bool {
	for {
		if !c.invoke() {
			return false
		}
		late := c.returnedLate()
		if c.tool.spec.Retry == nil || !c.retryable(late) {
			return c.finishOr(late)
		}
		wait := backoff(c.tool.spec.Retry, c.attempt)
		if !c.affords(wait) || !c.giveUpAttempt() {
			return c.finishOr(late)
		}
		if !c.backOff(wait) || !c.restart() {
			return false
		}
	}
}

// returnedLate reports whether the handler has returned after its deadline. The clock is read once
// and decides, whether the timer or the handler came first (SEMANTICS section 6.1). The result of a
// handler that returned in time then has until finishBy to become the outcome.
func (c *call) returnedLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare("return")
	c.back = true
	now := c.clock()
	late := c.life.Return(now, c.ends(), c.mayRetryTimeout())
	switch {
	case c.life.Ended(), c.phase == phaseGrace:
		return agree(c, "return", true, late)
	case c.phase != phaseRunning:
		return agree(c, "return", false, late)
	}
	agree(c, "return", !now.Before(c.due), late)
	if now.Before(c.due) {
		c.phase, c.due = phaseFinishing, c.finishBy(now)
		return false
	}
	if c.mayRetryTimeout() {
		c.enterGrace(now)
	}
	return true
}

// finishBy returns the deadline by which a result that came in time, at now, must have become the
// outcome. It is not before the deadline of the attempt, and not after the end of the turn's
// budget. The deadline is needed because code of the tool, such as an error's text, may hang like a
// handler.
func (c *call) finishBy(now time.Time) time.Time {
	by := now.Add(grace)
	if c.due.After(by) {
		by = c.due
	}
	if ends := c.ends(); !ends.IsZero() && ends.Before(by) {
		by = ends
	}
	return by
}

// decideInTime reports whether the result of the handler may become the outcome now. After that
// only this outcome ends the call.
func (c *call) decideInTime() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare("decide")
	now := c.clock()
	if !agree(c, "decide", !c.overtime(now), c.life.Decide(now)) {
		return false
	}
	if c.phase == phaseFinishing && !c.life.Ended() {
		c.phase, c.due = phaseEnding, time.Time{}
	}
	return true
}

// overtime reports whether the result of the handler comes too late to be the outcome. c.mu is
// held.
func (c *call) overtime(now time.Time) bool {
	return c.phase == phaseFinishing && !now.Before(c.due)
}

// finishOr finishes the call, or ends it because its deadline was over.
func (c *call) finishOr(late bool) bool {
	var e result
	c.result(&e)
	if late {
		c.timeOut(lifecycle.Moment{})
		c.late(e.fault, e.output)
		return true
	}
	return c.finish(&e)
}

// retryable reports whether the handler may be run again: only that of an idempotent tool, after a
// timeout or a transient error.
func (c *call) retryable(late bool) bool {
	spec := c.tool.spec
	if !spec.Idempotent || c.attempt > spec.Retry.Max || c.isAborted() {
		return false
	}
	if late {
		return spec.Retry.OnTimeout
	}
	return c.worker.err != nil && isTransient(c.worker.err)
}

// affords reports whether enough of the turn's budget is left for another attempt after a wait.
func (c *call) affords(wait time.Duration) bool {
	ends := c.ends()
	return ends.IsZero() || ends.Sub(c.clock()) >= wait+c.turn.minimum
}

// giveUpAttempt rolls back what the present attempt did and records that there will be another. It
// reports false when the call has ended, or the rollback failed.
func (c *call) giveUpAttempt() bool {
	var text string
	if err := c.worker.err; err != nil && c.exec.told() {
		text = c.redactText(errorText(err))
	}
	c.mu.Lock()
	if !c.life.EndAttempt() {
		c.mu.Unlock()
		return false
	}
	c.phase, c.due = phaseBackoff, time.Time{}
	drained := c.fence.shut()
	agree(c, "inside", drained != nil, c.life.ShutFence())
	c.mu.Unlock()
	if drained != nil && !c.exec.sched.WaitFor(drained, grace) || !c.rollback() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Ended() {
		return false
	}
	c.parts = nil
	c.transition(runtime.EventRetrying, runtime.StateExecuting, &note{at: c.clock(), text: text})
	return true
}

// backoff returns how long to wait after a number of attempts: twice as long each time, up to a
// cap, and randomly shortened, so that calls that failed together are not retried together.
func backoff(r *runtime.Retry, attempts int) time.Duration {
	d, most := cmp.Or(r.Initial, DefaultRetryInitial), cmp.Or(r.Cap, DefaultRetryCap)
	for i := 1; i < attempts && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d - rand.N(d/2+1)
}

// backOff waits. It reports false when the call has ended meanwhile.
func (c *call) backOff(wait time.Duration) bool {
	late := sched.NewEvent()
	t := c.exec.sched.After(wait, func() { c.exec.sched.Fire(late) })
	defer t.Stop()
	return c.exec.sched.Wait(late, c.over(), nil) == sched.First
}

// restart begins the next attempt. It reports false when the call has ended.
func (c *call) restart() bool {
	if why := c.exec.workers.stop.Load(); why != 0 {
		c.halted(why)
		return false
	}
	d := c.attemptDeadline()
	c.mu.Lock()
	c.now = c.clock()
	due := c.now.Add(d)
	if ends := c.ends(); !ends.IsZero() && ends.Before(due) {
		due = ends
	}
	if !(c.life.Begin(due) && (c.exec.log.on() || c.life.Release() == lifecycle.Released)) {
		c.mu.Unlock()
		return false
	}
	c.attempt++
	c.fence, c.sealing, c.back = fence{}, nil, false
	c.running = &callContext{parent: c.work, call: c, attempt: c.attempt, due: due}
	c.phase, c.due = phaseRunning, due
	c.mu.Unlock()
	c.worker.arm(due)
	return true
}

// mayRetryTimeout reports whether a handler that runs past its deadline gets a grace. If the
// handler returns within the grace, it is run again. c.mu is held.
func (c *call) mayRetryTimeout() bool {
	r := c.tool.spec.Retry
	return r != nil && r.OnTimeout && c.tool.spec.Idempotent && c.attempt <= r.Max
}

// tryEnterGrace ends an attempt whose deadline is over, but not the call, when the handler may be
// run again. The handler has a grace in which to return. tryEnterGrace returns the end of that
// grace, and zero when the call ends now.
func (c *call) tryEnterGrace(at lifecycle.Moment) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, may := c.clock(), c.mayRetryTimeout()
	if !agree(c, "grace", !c.life.Ended() && c.phase == phaseRunning && may, may && c.life.EnterGrace(at, now)) {
		return time.Time{}
	}
	c.enterGrace(now)
	return c.due
}

// enterGrace ends the attempt and gives the handler a grace. c.mu is held.
func (c *call) enterGrace(now time.Time) {
	c.running.cancel(whyDeadline)
	c.fence.shut()
	c.phase, c.due = phaseGrace, now.Add(grace)
}
