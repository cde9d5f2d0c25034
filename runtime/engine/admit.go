package engine

import (
	"cmp"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// An admission is what admit decided. The zero value admits the call.
type admission struct {
	again bool         // evaluate again: the facts have changed, or another call excludes all others
	wait  *sched.Event // for which to wait before; nil: none
	ends  *result      // of a call that is not admitted; stop: it waits for consent, or has ended
}

// ending returns the admission of a call that is not admitted.
func ending(e *result) admission { return admission{ends: e} }

// admit checks the call against the rules and reserves what it uses, if the facts that the policy
// saw still hold. The check and the reservation are one step under the session's lock.
func (c *call) admit() admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.life.Ended():
		return ending(stop)
	case s.holder != c && (s.holder != nil || !c.worker.view.unchanged()):
		return admission{again: true, wait: s.held}
	case c.run.part.closing:
		return ending(cancellation(runtime.ReasonRunClosed))
	}
	s.endExclusion(c)
	c.giveBackReserved()
	switch j := &c.worker.evaluation; {
	case j.reason != runtime.ReasonNone:
		return ending(c.refused(c.check(&c.worker.rule), &c.worker.rule, j))
	case c.dry:
		return c.admitDry()
	case c.resumed():
		return c.readmit()
	case j.asks:
		return c.admitAsked()
	}
	return c.reserve()
}

// check returns the verdict of the rules about the call. The session's lock is held.
func (c *call) check(rc *rules.Call) rules.Verdict {
	s := c.run.session
	at := c.exec.instant(c.clock())
	if c.resumed() && c.reservation == reserved {
		return s.state.Recheck(at, rc)
	}
	return s.state.Check(at, rc)
}

// giveBackReserved releases the reservation that a call made before a restart and is
// evaluated again. In the same step the call reserves what it needs, or ends.
func (c *call) giveBackReserved() {
	if !c.readmits {
		return
	}
	c.readmits, c.reservation = false, reservedNothing
	s := c.run.session
	if ev, err := s.state.Release(c.exec.instant(c.now), c.id); err == nil {
		s.note(&ev)
	}
}

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

// readmit admits a call that waited for consent, without counting its own reservation.
func (c *call) readmit() admission {
	s := c.run.session
	resume := s.state.Resume
	if c.reservation == reservedNothing { // it was admitted before a restart
		resume = s.state.Admit
	}
	v, ev := resume(c.exec.instant(c.now), &c.worker.rule)
	if !v.Admitted() {
		return ending(c.refused(v, &c.worker.rule, &c.worker.evaluation))
	}
	c.asked.unasked = !c.worker.evaluation.asks
	c.authorized(&ev)
	return admission{}
}

// admitDry returns what admit would do.
func (c *call) admitDry() admission {
	v := c.check(&c.worker.rule)
	switch asked := c.worker.evaluation.asks; {
	case !v.Admitted():
		return ending(c.refused(v, &c.worker.rule, &c.worker.evaluation))
	case asked && !c.exec.approvals.answers(c):
		if e := cmp.Or(c.noApprover(), c.exec.approvals.overfull(c)); e != nil {
			return ending(e)
		}
		return ending(&result{event: runtime.EventAborted, to: runtime.StateAborted, outcome: c.pending()})
	}
	return ending(&result{event: runtime.EventAborted, to: runtime.StateAborted, verdict: &Verdict{Runs: true}})
}

// describe prepares the description of the call that the rules check.
func (c *call) describe() bool {
	var err error
	if c.worker.effect, err = c.describeTo(&c.worker.rule, c.final); err != nil {
		c.policyFault("arguments", fmt.Errorf("the arguments have no canonical form: %w", err))
	}
	return true
}
