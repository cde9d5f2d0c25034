package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// reserve admits the call and, when it need not wait for anything, starts it.
func (c *call) reserve() admission {
	s := c.run.session
	v, ev := s.state.Admit(c.exec.instant(c.now), &c.worker.rule)
	if !v.Admitted() {
		return ending(c.refused(v, &c.worker.rule, &c.worker.evaluation))
	}
	c.authorized(&ev)
	if c.atOnce() {
		return ending(c.commit(c.deadline()))
	}
	return admission{}
}

// atOnce reports whether an admitted call need not wait for anything before it starts.
// Admission and start are then one step.
func (c *call) atOnce() bool {
	return c.batch == nil && c.asked == nil && !c.exec.sched.Counts() && !c.exec.slots[c.index].Limited() &&
		!c.turn.blocks(c.index) && c.exec.workers.stop.Load() == 0
}

// authorized records that the call is admitted, and queues it for a slot of its tool. Both
// are one step: calls get slots in the order of their records, which a replay follows.
func (c *call) authorized(ev *rules.Event) {
	c.effect = c.worker.effect
	c.reservation = reserved
	c.run.session.note(ev)
	c.requestSlot(func() {
		c.transition(runtime.EventAuthorized, runtime.StateAuthorized, &note{at: c.now, session: true})
	})
}
