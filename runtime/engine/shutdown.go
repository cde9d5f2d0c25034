package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// The causes for which a workerPool stops.
const (
	haltShutdown = iota + 1
	haltLost     // another process owns the journal
)

// Shutdown ends the work of e in order. From now on calls are denied shutting_down, and requests
// for consent stay open: a caller that waits for one is told that its call is pending, and with a
// journal the request can be answered after a restart. Handlers may go on until ctx ends; that is
// their grace period.
//
// Then Shutdown cancels the contexts of the handlers that still run. A handler that returns now
// determines its outcome; the outcome is cancelled if the handler returns context.Canceled. Five
// seconds later the callers of the remaining calls are told that the outcome is unknown
// (interrupted). No outcome is recorded for these calls: recovery finds them as after a crash. The
// error says how many there are.
//
// What has happened is durable then. The executor records nothing more and no longer uses the
// journal, which it does not close. Shutdown may be called again, also to end the grace period of
// an earlier call.
func (e *Executor) Shutdown(ctx context.Context) error {
	if e == nil || e.engine == nil {
		return nil
	}
	ctx = orBackground(ctx)
	e.gate.Shut()
	e.approvals.close()
	left := e.gate.Wait(&e.sched, nil, ctx.Done())
	if left > 0 {
		e.workers.halt(haltShutdown)
		e.undos.abort()
		e.all(e.workers.calls(), (*call).abort)
		if left = e.gate.WaitFor(&e.sched, grace); left > 0 {
			e.undos.halt()
			e.all(e.workers.calls(), (*call).giveUp)
		}
	}
	if e.follower != nil {
		e.follower.Close()
	}
	err := e.log.Close()
	e.lease.Release(grace)
	if left > 0 {
		err = errors.Join(fmt.Errorf("%d calls are still running: %w", left, context.Cause(ctx)), err)
	}
	err = errors.Join(err, e.drain())
	if err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}

// mayUndo admits an undo that a shutdown waits for, because the undo must be recorded. An undo that
// is admitted must leave the gate. Without a journal there is nothing to record, and every undo is
// admitted.
func (e *Executor) mayUndo() bool {
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

// halted ends a call that came to a worker after the pool had stopped.
func (c *call) halted(why uint32) {
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
			c.running.cancel(whyCanceled)
		}
		c.mu.Unlock()
		if what != lifecycle.AbortEnd {
			return
		}
		e := refusal(runtime.ReasonShuttingDown, runtime.Detail{}, "the executor is shutting down")
		if moment.Phase() == lifecycle.Backoff { // what the earlier attempts did was rolled back
			e = abortion()
		}
		e.cause, e.moment = lifecycle.ByShutdown, moment
		if c.tryEnd(e) {
			return
		}
	}
}

// stopped returns the result of a call whose handler has stopped because a shutdown canceled it. It
// is nil when it was not canceled, or returned another error.
func (c *call) stopped(err error) *result {
	if !c.isAborted() || !errors.Is(err, context.Canceled) {
		return nil
	}
	return abortion()
}

// isAborted reports whether a shutdown canceled the handler.
func (c *call) isAborted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.life.Aborted()
}

// abortion returns the result of a call that a shutdown has stopped.
func abortion() *result {
	e := cancellation(runtime.ReasonCancelled)
	e.outcome.Message = "the executor was shut down"
	return e
}

// leavesNothing reports whether a call whose handler runs is known to have no lasting effect, and
// the next owner of the journal does not run it again. c.mu is held.
func (c *call) leavesNothing() bool {
	spec := c.tool.spec
	return effectsOf(spec) != "" && !c.life.Committing() && !(spec.Idempotent && spec.Retry != nil)
}

// giveUp answers the callers of a call whose handler does not return. What the handler will have
// done is not known: no outcome is recorded, and recovery settles the call.
func (c *call) giveUp() {
	c.mu.Lock()
	if !c.life.TryEnd(lifecycle.ByAbandon, lifecycle.Moment{}, c.clock()) {
		c.mu.Unlock()
		return
	}
	if c.life.Lingers() {
		c.exec.lingering.Add(1)
	}
	out := runtime.Outcome{
		Kind: runtime.Unknown, Reason: runtime.ReasonInterrupted, Message: "the executor was shut down while the handler ran: the call may have taken effect",
	}
	if c.leavesNothing() {
		out.Kind, out.Message = runtime.Failed, "the executor was shut down while the handler ran: nothing that it did stands"
	}
	c.complete(&out, c.clock(), true)
	s := c.run.session
	s.mu.Lock()
	c.record.keep(&out)
	s.mu.Unlock()
	over, tell := c.over(), c.life.Unattended()
	c.mu.Unlock()
	c.exec.sched.Fire(over)
	if tell {
		c.observeLater()
	}
}

// close leaves the requests open, and answers the callers that wait for them.
func (d *approvals) close() {
	d.exec.sched.Fire(&d.closed)
	d.mu.Lock()
	if d.timer != nil {
		d.timer.Stop()
	}
	waiting := make([]*call, 0, len(d.calls))
	for _, c := range d.calls {
		waiting = append(waiting, c)
	}
	d.mu.Unlock()
	for _, c := range waiting {
		c.mu.Lock()
		late := c.asked.late
		c.mu.Unlock()
		if late != nil {
			d.exec.sched.Fire(late)
		}
	}
}
