package engine

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
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
	*rc = rules.Call{ID: c.id, Run: c.run.id, Agent: c.run.agent, Principal: c.run.principal, Tool: c.record.tool}
	wants := &c.exec.wants[c.index]
	ruleinput.Operation(rc, wants, args)
	return ruleinput.Digests(rc, c.tool.spec, wants, args, c.exec.inputs)
}

// restoreKey sets the key of a call of an earlier process. The code of the tool walks the arguments,
// and may panic.
func (c *call) restoreKey() {
	defer func() { _ = recover() }() // the key is then derived from the ids of the session and the call
	if c.final == nil || c.tool.spec.Idempotency == nil {
		return
	}
	if key, err := ruleinput.Effect(c.record.tool, c.run.principal, c.tool.spec, c.final); err == nil {
		c.scope.SetEffect(key)
	}
}

// checkRules returns the verdict of the rules about the call. The session's lock is held.
func (c *call) checkRules(rc *rules.Call) rules.Verdict {
	s := c.run.session
	at := c.exec.instant(c.clock())
	if c.approved() && c.reservation == reserved {
		return s.state.Recheck(at, rc)
	}
	return s.state.Check(at, rc)
}

// denialBy returns the result of a call that the rules, the policy or both refuse, or
// that repeats an earlier one. The session's lock is held.
func (c *call) denialBy(v rules.Verdict, rc *rules.Call, j *evaluation) *result {
	e := &result{event: runtime.EventDenied, to: runtime.StateDenied}
	out := &e.outcome
	switch {
	case v.Answer == rules.Duplicate:
		c.fillDuplicate(out, v.Of)
		return e
	case !v.Admitted():
		refusal.Rules(out, c.record.tool, v)
		only := v.Primary().Reason < rules.ReasonStartConstraint
		if only || j.Reason == runtime.ReasonNone || j.Reason == runtime.ReasonPreviewFailed { // a call that the rules refuse needs no preview
			c.unblock(out, rc)
			return e
		}
		out.AllReasons = append(out.AllReasons, j.Reasons...)
		out.Message += "; " + j.Message
	default:
		out.Reason, out.AllReasons, out.Detail, out.Message = j.Reason, slices.Clip(j.Reasons), j.Detail, j.Message
	}
	out.Denials, e.fault = j.Denials, j.fault
	if out.Reason == runtime.ReasonPreviewFailed {
		e.event, e.to, out.Kind = runtime.EventFailed, runtime.StateFailed, runtime.Failed
	}
	return e
}

// denialByEvaluation returns the outcome of a call that is denied by an evaluation that its
// worker did not make. It adds the violations of the rules.
func (c *call) denialByEvaluation(j *evaluation) runtime.Outcome {
	var rc rules.Call
	v := rules.Verdict{Answer: rules.Admitted}
	if c.tryFillRulesCall(&rc, c.final) {
		v = c.checkRules(&rc)
	}
	return c.denialBy(v, &rc, j).outcome
}

// unblock adds to the outcome what would make the rules admit the same call.
func (c *call) unblock(out *runtime.Outcome, rc *rules.Call) {
	if c.approved() || out.Reason == runtime.ReasonIdempotencyConflict || out.Reason == runtime.ReasonRunFinished || out.Reason == runtime.ReasonOperationNotAllowed {
		return
	}
	refusal.Unblock(out, c.run.session.state.Unblock(c.exec.instant(c.clock()), rc))
}

// fillDuplicate sets the outcome of a call that repeats an earlier one, with the output of
// that call if there is one.
func (c *ident) fillDuplicate(out *runtime.Outcome, of string) {
	out.Kind, out.Of = runtime.Duplicate, of
	out.Message = "an equal call was made before: " + wording.Quote(of)
	r := c.run.session.calls.find(of)
	if r == nil || !r.first.Fired() || r.final != nil && !r.final.Fired() {
		return
	}
	earlier := r.outcome()
	out.Output, out.Artifact = earlier.Output, earlier.Artifact
}

// settleReservation releases or finishes the reservation of a call that has ended, and sets the
// run status in its outcome. s.mu is held.
func (c *call) settleReservation(out *runtime.Outcome, now time.Time) {
	s := c.run.session
	s.endExclusion(c)
	at := c.exec.instant(now)
	var ev rules.Event
	var err error
	switch c.reservation {
	case reserved:
		ev, err = s.state.Release(at, c.id)
	case reservedAndInvoked:
		if out.Kind == runtime.Denied { // its handler did not start after all
			ev, err = s.state.Release(at, c.id)
		} else {
			ev, err = s.state.Finish(at, c.id, statusOf(out))
		}
	}
	if c.reservation != reservedNothing && err == nil {
		s.addRuleEvent(&ev)
	}
	c.reservation = reservedNothing
	if !c.dry {
		c.fillRunStatus(out)
	}
	if c.position > 0 {
		p := c.run.node
		last := p.active[len(p.active)-1]
		p.active[c.position-1] = last
		last.position = c.position
		p.active[len(p.active)-1] = nil
		p.active = p.active[:len(p.active)-1]
		c.position = 0
	}
}

// statusOf returns the status of an invocation for the rules.
func statusOf(out *runtime.Outcome) rules.Status {
	switch {
	case out.Kind == runtime.Completed:
		return rules.StatusOK
	case out.Kind == runtime.Unknown:
		return rules.StatusUnknown
	case out.RolledBack, out.Kind == runtime.Failed:
		return rules.StatusError
	}
	return rules.StatusTimeout
}

// fillRunStatus sets the status of the run after an outcome. s.mu is held.
func (c *call) fillRunStatus(out *runtime.Outcome) {
	state := c.run.session.state
	result := rules.ResultRefused
	switch {
	case out.Kind == runtime.Pending:
		result = rules.ResultPending
	case out.Kind == runtime.Completed:
		result = rules.ResultSucceeded
	case c.life.Attempt() > 0:
		result = rules.ResultFailed
	}
	out.Loop = runtime.Loop(state.Hint(c.run.id, c.record.tool, result, c.heartbeat))
	out.Run = runState(state.RunState(c.run.id))
	if c.exec.requires {
		out.PendingExit = state.Status(c.run.id).PendingExit
	}
}

// runState returns the RunState for the state s of the rules.
func runState(s rules.RunState) runtime.RunState {
	if s >= rules.RunClosed {
		return runtime.RunFinished
	}
	return runtime.RunState(s)
}
