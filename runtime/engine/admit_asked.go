package engine

import (
	"cmp"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// admitAsked admits the call if a grant gives its consent or asking is suspended. Otherwise it
// reserves what the call needs and makes the request. The locks of the call and of its session are
// held.
func (c *call) admitAsked() admission {
	asking := c.exec.approvals.Begin(c.now, &c.consent.question)
	defer asking.End()
	grant, yes := asking.Answered()
	declared := c.tool.spec.Consent
	switch c.consent.grant = grant; {
	case yes:
		return c.reserve()
	case c.noApprover() != nil:
	case c.tool.hooks.Preview != nil && declared != nil && declared.Preview && c.consent.preview == nil:
		return admission{again: true} // the grant, or the suspension of asking, has ended meanwhile
	}
	s := c.run.session
	rc := &c.worker.Scratch.rulesCall
	if e := cmp.Or(c.noApprover(), c.checkOpenLimit(asking.Full())); e != nil {
		if v := c.checkRules(rc); !v.Admitted() {
			e = c.denialBy(v, rc, &c.worker.Scratch.evaluation)
		}
		return notAdmitted(e)
	}
	if err := asking.Prepare(); err != nil {
		e := denial(runtime.ReasonPolicyError, runtime.Detail{Rule: "question"}, "the call cannot be put to an approver, and is denied therefore")
		e.fault = c.newFault(runtime.ReasonPolicyError, err)
		return notAdmitted(e)
	}
	v, rule := s.state.Ask(c.exec.instant(c.now), rc)
	if !v.Admitted() {
		return notAdmitted(c.denialBy(v, rc, &c.worker.Scratch.evaluation))
	}
	c.reservation = reserved
	s.addRuleEvent(&rule)
	c.consent.id, c.consent.since = asking.Add(c), c.now
	c.life.Ask()
	c.watch.Enter(tally.Consent, c.now)
	c.record.final, c.record.call = sched.NewEvent(), c
	c.transition(runtime.EventApprovalRequested, runtime.StateValidated, &note{at: c.now, session: true})
	return notAdmitted(workerDone)
}
