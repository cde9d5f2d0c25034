package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// execute runs the pipeline in the goroutine of w, because policies and handlers may hang. The
// timer or the caller then ends the call, and the next step returns workerDone.
func (c *call) execute(w *worker) {
	c.worker = w
	c.progress.Attach(w)
	if why := c.exec.workers.Halted(); why != 0 {
		c.halt(why)
	}
	defer c.leave() // slot and gates; a panic or runtime.Goexit becomes a result
	if r := c.pipeline(); r != nil {
		c.finish(r)
	}
	c.workReturned = true
}

// pipeline takes the call through its steps. A step returns nil when the next one follows, the
// result with which it ends the call, or workerDone.
func (c *call) pipeline() *result {
	if c.progress.Life.Reevaluating() { // an earlier process had started its handler
		if r := c.evaluateRerun(); r != nil {
			return r
		}
		if r := c.restart(); r != nil {
			return r
		}
		return c.attempts()
	}
	if !c.approved() { // a call that waited for consent has passed these
		if !c.needsReadmission {
			if r := c.decode(); r != nil {
				return r
			}
		}
		if r := c.checkGates(); r != nil {
			return r
		}
	}
	if r := c.decide(); r != nil {
		return r
	}
	if c.progress.Life.Attempt() == 0 { // it has to wait for its batch or for a slot, or was approved
		if r := c.awaitTurn(); r != nil {
			return r
		}
		if r := c.start(); r != nil {
			return r
		}
	}
	return c.attempts()
}

// leave ends the work of the worker on a call. If the work did not return, a codec, the policy, the
// handler or a sink panicked or called runtime.Goexit. Each step is deferred, so that a further
// runtime.Goexit skips none.
func (c *call) leave() {
	defer c.run.session.letGo()
	defer func() {
		if c.progress.Life.MustPark() {
			c.park()
		}
	}()
	defer func() {
		if c.progress.HandlerReturned() {
			c.exec.lingering.Add(-1)
		}
	}()
	defer c.releaseResources()
	if c.workReturned {
		return
	}
	fault := c.newFault(runtime.ReasonPanic, usercode.ErrExited)
	defer func() { c.endCrashed(fault) }()
	if v := recover(); v != nil {
		fault = c.panicFault(usercode.Recovered(v))
	}
}

// endCrashed ends the call after a panic or runtime.Goexit.
func (c *call) endCrashed(fault *action.CallError) {
	c.progress.Lock()
	running, unread := c.progress.Life.Attempt() > 0, c.progress.State() == runtime.StateDeclared
	c.progress.LeaveEvaluation(&c.exec.evaluations, c.tool.Index)
	c.progress.Unlock()
	if unread { // a codec called runtime.Goexit
		c.finish(invalidInputResult(nil, fault))
		return
	}
	if running {
		fault.Reason = runtime.ReasonPanic
		var e result
		c.setFailed(&e, fmt.Sprintf("%q failed for a reason of its own; its operators know more", c.record.Tool), fault)
		e.report(c)
		if c.progress.Return(c.tool.MayRetryTimeout(c.progress.Life.Attempt())) {
			c.timeOut(lifecycle.Moment{})
			c.recordLate(&e)
		} else {
			c.finishInTime(&e)
		}
		return
	}
	fault.Reason = runtime.ReasonPolicyError
	e := policyFailure("panic", decision.Unjudged)
	e.fault = fault
	if !c.finish(e) {
		e.report(c)
	}
}
