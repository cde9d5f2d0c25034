package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// Shutdown ends the work of e in order. From now on calls are denied shutting_down, and requests
// for consent stay open: a caller that waits for an answer gets the outcome pending, and with a
// journal the request can be answered after a restart. Handlers may continue until ctx ends; that
// is their grace period.
//
// Then Shutdown cancels the contexts of the handlers that still run. A handler that returns now
// determines its outcome; the outcome is cancelled if the handler returns context.Canceled. Five
// seconds later the callers of the remaining calls get the outcome unknown (interrupted). No
// outcome is recorded for these calls: recovery finds them as after a crash. The error says how
// many there are.
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
	e.closeApprovals()
	left := e.gate.Wait(&e.sched, nil, ctx.Done())
	if left > 0 {
		e.workers.Halt(haltShutdown)
		e.undos.Cancel()
		e.forEachCall(e.workers.Jobs(), (*call).abort)
		if left = e.gate.WaitFor(&e.sched, grace); left > 0 {
			e.undos.Halt()
			e.forEachCall(e.workers.Jobs(), (*call).abandon)
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
	err = errors.Join(err, e.delivery.Drain(grace))
	if err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}

// hasNoLastingEffect reports whether a call whose handler runs is known to have no lasting effect,
// and the next owner of the journal does not run it again. c.mu is held.
func (c *call) hasNoLastingEffect() bool {
	spec := c.tool.spec
	return entry.Effects(spec) != "" && !c.life.Committing() && !(spec.Idempotent && spec.Retry != nil)
}

// abandon answers the callers of a call whose handler does not return. What the handler will have
// done is not known: no outcome is recorded, and recovery settles the call.
func (c *call) abandon() {
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
	if c.hasNoLastingEffect() {
		out.Kind, out.Message = runtime.Failed, "the executor was shut down while the handler ran: nothing that it did stands"
	}
	c.completeOutcome(&out, c.clock(), true)
	s := c.run.session
	s.mu.Lock()
	c.record.storeOutcome(&out)
	s.mu.Unlock()
	over, unattended := c.done(), c.life.Unattended()
	c.mu.Unlock()
	c.exec.sched.Fire(over)
	if unattended {
		c.observe(pastDone) // no caller waits
	}
}
