package engine

import (
	"cmp"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
)

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
		return notAdmitted(workerDone)
	case s.admitting != c && (s.admitting != nil || !c.worker.Scratch.view.unchanged()):
		return admission{again: true, wait: s.admittingDone}
	case c.run.node.closing:
		return notAdmitted(cancellation(runtime.ReasonRunClosed))
	}
	s.endExclusion(c)
	c.releaseRestored()
	switch j := &c.worker.Scratch.evaluation; {
	case j.Reason != runtime.ReasonNone:
		return notAdmitted(c.denialBy(c.checkRules(&c.worker.Scratch.rulesCall), &c.worker.Scratch.rulesCall, j))
	case c.dry:
		return c.admitDry()
	case c.approved():
		return c.admitApproved()
	case j.asks:
		return c.admitAsked()
	}
	return c.reserve()
}

// releaseRestored releases the reservation of a call that was admitted before a restart and is
// evaluated again. In the same step the call reserves again, or ends.
func (c *call) releaseRestored() {
	if !c.needsReadmission {
		return
	}
	c.needsReadmission, c.reservation = false, reservedNothing
	s := c.run.session
	if ev, err := s.state.Release(c.exec.instant(c.now), c.id); err == nil {
		s.addRuleEvent(&ev)
	}
}

// admitApproved admits a call that waited for consent, without counting its own reservation.
func (c *call) admitApproved() admission {
	s := c.run.session
	resume := s.state.Resume
	if c.reservation == reservedNothing { // it was admitted before a restart
		resume = s.state.Admit
	}
	v, ev := resume(c.exec.instant(c.now), &c.worker.Scratch.rulesCall)
	if !v.Admitted() {
		return notAdmitted(c.denialBy(v, &c.worker.Scratch.rulesCall, &c.worker.Scratch.evaluation))
	}
	c.consent.noLongerAsked = !c.worker.Scratch.evaluation.asks
	c.recordAuthorized(&ev)
	return admission{}
}

// admitDry returns what admit would do.
func (c *call) admitDry() admission {
	v := c.checkRules(&c.worker.Scratch.rulesCall)
	switch asked := c.worker.Scratch.evaluation.asks; {
	case !v.Admitted():
		return notAdmitted(c.denialBy(v, &c.worker.Scratch.rulesCall, &c.worker.Scratch.evaluation))
	case asked && !c.exec.approvals.Answered(c.now, &c.consent.question):
		if e := cmp.Or(c.noApprover(), c.checkOpenLimit(c.exec.approvals.Full(c.run.session.id))); e != nil {
			return notAdmitted(e)
		}
		return notAdmitted(&result{event: runtime.EventAborted, to: runtime.StateAborted, outcome: c.pending()})
	}
	return notAdmitted(&result{event: runtime.EventAborted, to: runtime.StateAborted, verdict: &Verdict{Runs: true}})
}

// setRulesCall prepares the description of the call that the rules check.
func (c *call) setRulesCall() bool {
	var err error
	if c.worker.Scratch.effect, err = c.fillRulesCall(&c.worker.Scratch.rulesCall, c.final); err != nil {
		c.failPolicy("arguments", fmt.Errorf("the arguments have no canonical form: %w", err))
	}
	return true
}
