package engine

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

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

// tryFillRulesCall is fillRulesCall for a goroutine that must not panic.
func (c *call) tryFillRulesCall(rc *rules.Call, args wire.Value) (ok bool) {
	defer func() { _ = recover() }()
	if args == nil {
		return false
	}
	_, err := c.fillRulesCall(rc, args)
	return err == nil
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

// unblock adds to the outcome what would make the rules admit the same call.
func (c *call) unblock(out *runtime.Outcome, rc *rules.Call) {
	if c.approved() || out.Reason == runtime.ReasonIdempotencyConflict || out.Reason == runtime.ReasonRunFinished || out.Reason == runtime.ReasonOperationNotAllowed {
		return
	}
	refusal.Unblock(out, c.run.session.state.Unblock(c.exec.instant(c.clock()), rc))
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
