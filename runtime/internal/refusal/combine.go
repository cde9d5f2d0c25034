package refusal

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Combine sets the outcome of a call of a tool that the rules refuse by v, the policy by r, or both. A reason of the
// rules before the start constraint is the only answer; other reasons of the rules come before those of the policy
// (SEMANTICS 3.1, 3.2). It reports whether the rules alone refuse the call.
func (r *Refusal) Combine(out *runtime.Outcome, tool string, v rules.Verdict) (rulesOnly bool) {
	switch {
	case v.Answer == rules.Duplicate:
		return false
	case !v.Admitted():
		Rules(out, tool, v)
		only := v.Primary().Reason < rules.ReasonStartConstraint
		if only || r.Reason == runtime.ReasonNone || r.Reason == runtime.ReasonPreviewFailed { // a call that the rules refuse needs no preview
			return true
		}
		out.AllReasons = append(out.AllReasons, r.Reasons...)
		out.Message += "; " + r.Message
	default:
		out.Reason, out.AllReasons, out.Detail, out.Message = r.Reason, slices.Clip(r.Reasons), r.Detail, r.Message
	}
	out.Denials = r.Denials
	if out.Reason == runtime.ReasonPreviewFailed {
		out.Kind = runtime.Failed
	}
	return false
}

// MayUnblock reports whether other calls, or time, could make the rules admit a call that they refuse for a reason.
func MayUnblock(r runtime.Reason) bool {
	return r != runtime.ReasonIdempotencyConflict && r != runtime.ReasonDuplicatePending && r != runtime.ReasonRunFinished && r != runtime.ReasonOperationNotAllowed
}
