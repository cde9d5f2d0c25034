package engine

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// The defaults of a Retry whose fields are zero (SEMANTICS section 8).
const (
	DefaultRetryInitial = time.Second
	DefaultRetryCap     = 30 * time.Second
)

// attempts runs the handler until it need not, or must not, be run again. All attempts are one
// call: they share its slot, its consent and its claims.
func (c *call) attempts() *result {
	for {
		if r := c.invoke(); r != nil {
			return r
		}
		late := c.returnedLate()
		wait, again := c.retry(late)
		if !again {
			return c.accept(late)
		}
		if r := c.backOff(wait); r != nil {
			return r
		}
		if r := c.restart(); r != nil {
			return r
		}
	}
}

// retry reports whether the handler is run again, and after what wait. What the attempt did is then
// rolled back.
func (c *call) retry(late bool) (wait time.Duration, again bool) {
	if c.tool.spec.Retry == nil || !c.retryable(late) {
		return 0, false
	}
	wait = backoff(c.tool.spec.Retry, c.life.Attempt())
	return wait, c.hasBudgetFor(wait) && c.rollBackAttempt()
}

// retryable reports whether the handler may be run again: only that of an idempotent tool, after a
// timeout or a transient error.
func (c *call) retryable(late bool) bool {
	spec := c.tool.spec
	if !spec.Idempotent || c.life.Attempt() > spec.Retry.Max || c.scope.Aborted() {
		return false
	}
	if late {
		return spec.Retry.OnTimeout
	}
	return c.worker.Scratch.err != nil && errmark.IsTransient(c.worker.Scratch.err)
}

// hasBudgetFor reports whether enough of the turn's budget is left for another attempt after a wait.
func (c *call) hasBudgetFor(wait time.Duration) bool {
	ends := c.budgetEnds()
	return ends.IsZero() || ends.Sub(c.clock()) >= wait+c.turn.minimum
}

// rollBackAttempt rolls back what the present attempt did and records that there will be another. It
// reports false when the call has ended, or the rollback failed.
func (c *call) rollBackAttempt() bool {
	var text string
	if err := c.worker.Scratch.err; err != nil && c.exec.emitsEvents() {
		text = c.redactText(usercode.ErrorText(err))
	}
	c.mu.Lock()
	if !c.life.EndAttempt() {
		c.mu.Unlock()
		return false
	}
	drained := c.scope.ShutFence()
	c.mu.Unlock()
	if !c.scope.Drain(drained) || !c.scope.Rollback(c.ctx) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Ended() {
		return false
	}
	c.scope.Forget()
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

// backOff waits.
func (c *ident) backOff(wait time.Duration) *result {
	late := sched.NewEvent()
	t := c.exec.sched.After(wait, func() { c.exec.sched.Fire(late) })
	defer t.Stop()
	if c.exec.sched.Wait(late, c.done(), nil) != sched.First {
		return workerDone
	}
	return nil
}

// restart begins the next attempt.
func (c *call) restart() *result {
	if why := c.exec.workers.Halted(); why != 0 {
		c.endHalted(why)
		return workerDone
	}
	d := c.attemptDeadline()
	c.mu.Lock()
	c.now = c.clock()
	due := bounded(c.now.Add(d), c.budgetEnds())
	c.run.session.mu.Lock()
	closing := c.run.node.closing // another goroutine is about to end the call
	c.run.session.mu.Unlock()
	if closing || !c.beginAttempt(due) {
		c.mu.Unlock()
		return workerDone
	}
	c.scope.Begin(c.workCtx, due)
	c.mu.Unlock()
	c.worker.Arm(due)
	return nil
}
