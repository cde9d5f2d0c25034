package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// tryFillRulesCall is fillRulesCall for a goroutine that must not panic.
func (c *call) tryFillRulesCall(rc *rules.Call, args wire.Value) (ok bool) {
	defer func() { _ = recover() }()
	if args == nil {
		return false
	}
	_, err := c.fillRulesCall(rc, args)
	return err == nil
}

// fillRulesCall sets rc to what the rules need to know of the call. args are the arguments that the
// handler would get. It returns the digest that the idempotency key is derived from.
func (c *work) fillRulesCall(rc *rules.Call, args wire.Value) (effect rules.Digest, err error) {
	*rc = rules.Call{ID: c.id, Run: c.run.id, Agent: c.run.by.Agent, Principal: c.run.by.Principal, Tool: c.record.Tool, Recorded: c.tool.Recorded}
	wants := &c.exec.wants[c.tool.Index]
	ruleinput.Operation(rc, wants, args)
	return ruleinput.Digests(rc, c.tool.Spec, wants, args, c.exec.inputs)
}

// checkRules returns the verdict of the rules about the call. The session's lock is held.
func (c *call) checkRules(rc *rules.Call) rules.Verdict {
	s := c.run.session
	at := c.exec.instant(c.clock())
	return s.memory.Check(at, rc, c.record, c.approved())
}

// denialBy returns the result of a call that the rules, the policy or both refuse, or
// that repeats an earlier one. The session's lock is held.
func (c *call) denialBy(v rules.Verdict, rc *rules.Call, j *evaluation) *result {
	e := denied(runtime.Outcome{})
	switch rulesOnly := j.Refusal.Combine(&e.outcome, c.record.Tool, v); {
	case v.Answer == rules.Duplicate:
		c.run.session.memory.FillDuplicate(&e.outcome, v.Of)
	case rulesOnly:
		c.unblock(&e.outcome, rc)
	default:
		if e.fault = j.fault; e.outcome.Kind == runtime.Failed {
			e.event, e.to = runtime.EventFailed, runtime.StateFailed
		}
	}
	return e
}

// denialByEvaluation returns the outcome of a call that is denied by an evaluation that its
// worker did not make. It adds the violations of the rules.
func (c *call) denialByEvaluation(j *evaluation) runtime.Outcome {
	var rc rules.Call
	v := rules.Verdict{Answer: rules.Admitted}
	if c.tryFillRulesCall(&rc, c.values.Final) {
		if v = c.checkRules(&rc); c.run.session.unsettled(&v) != nil {
			v = rules.Verdict{Answer: rules.Admitted} // that call may be refused, and so answers nothing
		}
	}
	return c.denialBy(v, &rc, j).outcome
}

// unblock adds to the outcome what would make the rules admit the same call.
func (c *call) unblock(out *runtime.Outcome, rc *rules.Call) {
	if !c.approved() && refusal.MayUnblock(out.Reason) {
		refusal.Unblock(out, c.run.session.memory.Rules().Unblock(c.exec.instant(c.clock()), rc))
	}
}

// settleReservation releases or finishes the reservation of a call that has ended, and sets the
// run status in its outcome. s.mu is held.
func (c *call) settleReservation(out *runtime.Outcome, now time.Time) {
	s := c.run.session
	s.endExclusion(c)
	s.memory.End(c.exec.instant(now), c.record, out)
	if !c.dry {
		c.fillRunStatus(out)
	}
	if c.position > 0 {
		c.run.node.Leave(c.position).position = c.position
		c.position = 0
	}
}

// fillRunStatus sets the status of the run after an outcome. s.mu is held.
func (c *call) fillRunStatus(out *runtime.Outcome) {
	c.run.session.memory.FillStatus(out, c.run.id, c.record.Tool, c.progress.Life.Attempt() > 0, c.heartbeat, c.exec.requires)
}
