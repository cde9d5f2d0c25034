package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// An evaluation is the result of the policy about a call. The rules are checked separately.
type evaluation struct {
	decision runtime.Decision
	reason   runtime.Reason   // the first reason against the call; ReasonNone: there is none
	reasons  []runtime.Reason // each once
	detail   runtime.Detail
	message  string
	denials  []runtime.Denial
	fault    *CallError
	asks     bool // the call needs consent
}

// refuse sets the only reason against the call.
func (j *evaluation) refuse(r runtime.Reason, detail runtime.Detail, message string) {
	j.reason, j.reasons, j.detail, j.message = r, []runtime.Reason{r}, detail, message
}

// deny sets the reasons for the denials of the policy.
func (j *evaluation) deny(denials []runtime.Denial, spec *runtime.Spec) {
	denials = slices.Clone(denials)
	slices.SortStableFunc(denials, func(a, b runtime.Denial) int {
		return cmp.Compare(reasonOfCode(a.Code), reasonOfCode(b.Code))
	})
	j.denials, j.reason = denials, reasonOfCode(denials[0].Code)
	var messages []string
	for _, d := range denials {
		if r := reasonOfCode(d.Code); !slices.Contains(j.reasons, r) {
			j.reasons = append(j.reasons, r)
		}
		if m := cmp.Or(d.Message, d.Code); !slices.Contains(messages, m) {
			messages = append(messages, m)
		}
	}
	j.message = strings.Join(messages, "; ")
	j.detail.At = denials[0].At
	switch j.reason {
	case runtime.ReasonPolicyDenied:
		j.detail.Rule = denials[0].Code
	case runtime.ReasonBehaviorNotAllowed:
		j.detail.Allowed = spec.Behaviors
	}
}

// reasonOfCode returns the reason for the code of a denial.
func reasonOfCode(code string) runtime.Reason {
	for _, r := range [...]runtime.Reason{runtime.ReasonBehaviorNotAllowed, runtime.ReasonCapabilityMissing, runtime.ReasonModeOff} {
		if code == r.String() {
			return r
		}
	}
	return runtime.ReasonPolicyDenied
}
