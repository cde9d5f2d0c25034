// Package refusal says why a call is refused, by the policy, the rules or both: the reasons in their order, the
// detail of the first one, and the message for the model.
package refusal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// A Refusal is why a policy refuses a call. The zero value does not.
type Refusal struct {
	Reason  runtime.Reason   // the first; ReasonNone: the call is not refused
	Reasons []runtime.Reason // each once
	Detail  runtime.Detail
	Message string
	Denials []runtime.Denial // of the policy, those with the first reason first
}

// Refuse sets the only reason against the call.
func (r *Refusal) Refuse(reason runtime.Reason, detail runtime.Detail, message string) {
	r.Reason, r.Reasons, r.Detail, r.Message = reason, []runtime.Reason{reason}, detail, message
}

// Deny sets the reasons for the denials of the policy.
func (r *Refusal) Deny(denials []runtime.Denial, spec *runtime.Spec) {
	denials = slices.Clone(denials)
	slices.SortStableFunc(denials, func(a, b runtime.Denial) int {
		return cmp.Compare(reasonOfCode(a.Code), reasonOfCode(b.Code))
	})
	r.Denials, r.Reason = denials, reasonOfCode(denials[0].Code)
	var messages []string
	for _, d := range denials {
		if reason := reasonOfCode(d.Code); !slices.Contains(r.Reasons, reason) {
			r.Reasons = append(r.Reasons, reason)
		}
		if m := cmp.Or(d.Message, d.Code); !slices.Contains(messages, m) {
			messages = append(messages, m)
		}
	}
	r.Message = strings.Join(messages, "; ")
	r.Detail.At = denials[0].At
	switch r.Reason {
	case runtime.ReasonPolicyDenied:
		r.Detail.Rule = denials[0].Code
	case runtime.ReasonBehaviorNotAllowed:
		r.Detail.Allowed = spec.Behaviors
	}
}

// reasonOfCode returns the reason for the code of a denial (SEMANTICS 2.3).
func reasonOfCode(code string) runtime.Reason {
	for _, r := range [...]runtime.Reason{runtime.ReasonBehaviorNotAllowed, runtime.ReasonCapabilityMissing, runtime.ReasonModeOff} {
		if code == r.String() {
			return r
		}
	}
	return runtime.ReasonPolicyDenied
}

// Cause returns the cause of a refusal for an operator.
func Cause(out *runtime.Outcome) string {
	if len(out.Violations) > 0 {
		return wording.Violations(out.Violations)
	}
	texts := make([]string, len(out.Denials))
	for i, d := range out.Denials {
		texts[i] = strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Code, rewrites.At(d.At), d.Message))
	}
	return strings.Join(texts, "; ")
}
