package engine

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// enterExecutor counts c among the calls in flight. It returns the outcome of a call
// that exceeds the capacity, nil otherwise.
func (c *work) enterExecutor() *runtime.Outcome {
	e := c.exec
	if e.capacity.inFlight.Add(1) > e.capacity.limit {
		e.capacity.inFlight.Add(-1)
		return c.atCapacity(leastRetry, "the executor is busy: "+wording.Plural(e.capacity.limit, "1 call is", "%d calls are")+" in flight")
	}
	c.inFlight = true
	if c.tool == nil {
		return nil
	}
	slot := &e.slots[c.index]
	if !slot.Enter() {
		c.leaveExecutor()
		return c.atCapacity(slot.RetryAfter(), fmt.Sprintf("%q is busy: %d of its calls run or wait", c.record.tool, slot.Most()))
	}
	return nil
}

// finishRefused sets the outcome of a call that exceeds the capacity. The session's lock is held.
func (c *call) finishRefused(out *runtime.Outcome) {
	out.CallID = c.id
	c.fillRunStatus(out)
	c.record.storeOutcome(out)
	c.exec.sched.Fire(&c.record.first)
}

// reenterExecutor counts c, which was admitted before, regardless of the limits.
func (c *work) reenterExecutor() {
	c.inFlight = true
	c.exec.capacity.inFlight.Add(1)
	c.exec.slots[c.index].Enter()
}

// leaveExecutor undoes enterExecutor.
func (c *work) leaveExecutor() {
	if !c.inFlight {
		return
	}
	c.inFlight = false
	c.exec.capacity.inFlight.Add(-1)
	if c.tool != nil {
		c.exec.slots[c.index].Leave()
	}
}

// atCapacity returns the outcome of a call that exceeds the capacity. No event is
// emitted for it, and its id can be used again.
func (c *ident) atCapacity(retry time.Duration, why string) *runtime.Outcome {
	c.exec.capacity.refused.Add(1)
	return &runtime.Outcome{
		Tool: c.record.tool, Kind: runtime.Denied,
		Reason: runtime.ReasonAtCapacity, AllReasons: []runtime.Reason{runtime.ReasonAtCapacity},
		Detail:  runtime.Detail{RetryAfter: retry},
		Message: fmt.Sprintf("%s; make the call again in %s", why, wording.Wait(retry)),
	}
}
