package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// execute runs the pipeline in the goroutine of w, because policies and handlers may hang. The
// timer or the caller then ends the call, and the next step returns workerDone.
func (c *call) execute(w *worker) {
	c.worker = w
	if why := c.exec.workers.Halted(); why != 0 {
		c.endHalted(why)
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
	if c.life.Reevaluating() { // an earlier process had started its handler
		if r := (rerun{c}).evaluate(); r != nil {
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
	if c.life.Attempt() == 0 { // it has to wait for its batch or for a slot, or was approved
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
	defer c.exec.sched.Busy(-1)
	defer func() {
		if c.life.MustPark() {
			c.park()
		}
	}()
	defer c.handlerReturned()
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
	c.mu.Lock()
	running, unread := c.life.Attempt() > 0, c.state == runtime.StateDeclared
	if c.life.Evaluating() {
		c.endEvaluation()
	}
	c.mu.Unlock()
	if unread { // a codec called runtime.Goexit
		c.finish(invalidInputResult(nil, fault))
		return
	}
	if running {
		fault.Reason = runtime.ReasonPanic
		var e result
		c.setFailed(&e, fmt.Sprintf("%q failed for a reason of its own; its operators know more", c.record.Tool), fault)
		e.report(c)
		if c.returnedLate() {
			c.timeOut(lifecycle.Moment{})
			c.recordLate(&e)
		} else {
			c.finishInTime(&e)
		}
		return
	}
	fault.Reason = runtime.ReasonPolicyError
	e := policyFailure("panic", "the policy could not judge the call, which is denied therefore")
	e.fault = fault
	if !c.finish(e) {
		e.report(c)
	}
}

// handlerReturned records that the handler of c has returned.
func (c *call) handlerReturned() {
	c.handlerDone.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.HandlerReturned() {
		c.exec.lingering.Add(-1)
	}
}
