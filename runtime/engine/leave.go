package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

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
		fault = c.panicFault(v)
	}
}

// endCrashed ends the call after a panic or runtime.Goexit.
func (c *call) endCrashed(fault *CallError) {
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
		c.exec.report(fault)
		var e result
		c.setFailed(&e, fmt.Sprintf("%q failed for a reason of its own; its operators know more", c.record.tool), fault)
		if c.returnedLate() {
			c.timeOut(lifecycle.Moment{})
			c.recordLate(fault, 0)
		} else {
			c.finishInTime(&e)
		}
		return
	}
	fault.Reason = runtime.ReasonPolicyError
	e := policyFailure("panic", "the policy could not judge the call, which is denied therefore")
	e.fault = fault
	if !c.finish(e) {
		c.exec.report(fault)
	}
}

// releaseResources releases what the call holds beyond its outcome: its slot and its place in the
// counts of the executor and the run.
func (c *work) releaseResources() {
	if c.slotGranted != nil {
		c.exec.slots[c.index].CancelWait(c.slotGranted, &c.exec.sched)
		c.slotGranted = nil
	}
	if c.slot {
		c.exec.slots[c.index].ReleaseAfter(c.clock().Sub(c.now), &c.exec.sched)
		c.slot = false
	}
	c.leaveExecutor()
	if c.inGates {
		c.run.node.workers.Leave()
		c.exec.gate.Leave()
		c.inGates = false
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
