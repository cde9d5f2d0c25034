package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// reserve admits the call and, when it need not wait for anything, starts it.
func (c *call) reserve() admission {
	s := c.run.session
	v, ev := s.state.Admit(c.exec.instant(c.now), &c.worker.Scratch.rulesCall)
	if !v.Admitted() {
		return notAdmitted(c.denialBy(v, &c.worker.Scratch.rulesCall, &c.worker.Scratch.evaluation))
	}
	c.recordAuthorized(&ev)
	if c.startsNow() {
		return notAdmitted(c.recordStart(c.deadline()))
	}
	return admission{}
}

// startsNow reports whether an admitted call need not wait for anything before it starts.
// Admission and start are then one step.
func (c *call) startsNow() bool {
	return c.batch == nil && c.consent == nil && !c.exec.sched.Counts() && !c.exec.slots[c.index].Limited() &&
		!c.turn.blocks(c.index) && c.exec.workers.Halted() == 0
}

// recordAuthorized records that the call is admitted, and queues it for a slot of its tool. Both
// are one step: calls get slots in the order of their records, which a replay follows.
func (c *call) recordAuthorized(ev *rules.Event) {
	c.scope.SetEffect(c.worker.Scratch.effect)
	c.reservation = reserved
	c.run.session.addRuleEvent(ev)
	c.requestSlot(func() {
		c.transition(runtime.EventAuthorized, runtime.StateAuthorized, &note{at: c.now, session: true})
	})
}
