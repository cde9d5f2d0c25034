package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// requestSlot queues the call for a slot of its tool, and calls then in the same step.
func (c *work) requestSlot(then func()) {
	slots := &c.exec.slots[c.index]
	if !slots.Limited() {
		then()
		return
	}
	slots.AcquireThen(func(wait *sched.Event) {
		c.slotGranted, c.slot = wait, wait == nil
		then()
	})
}

// awaitTurn waits until the rest of the batch is admitted, and then for a slot of the tool. It
// waits until the turn's budget is used up; in a turn without a budget, for the deadline of the
// tool. The call holds the slot until its handler has returned, even when the call has ended
// before.
func (c *call) awaitTurn() *result {
	if c.batch != nil && !c.batch.wait(c) {
		return workerDone
	}
	if c.slotGranted != nil {
		due := c.budgetEnds()
		if due.IsZero() {
			due = c.clock().Add(c.deadline())
		}
		if !c.enterPhase(lifecycle.Queued, due) || c.exec.sched.Wait(c.slotGranted, c.done(), nil) == sched.Second {
			return workerDone
		}
		c.slotGranted, c.slot = nil, true
		c.now = c.clock()
	}
	return c.checkBlocked()
}
