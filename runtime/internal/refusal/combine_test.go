package refusal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestCombine: the reasons of the rules come before those of the policy, and some of them are the only answer.
func TestCombine(t *testing.T) {
	refused := func(reason rules.Reason) rules.Verdict {
		return rules.Verdict{Answer: rules.Refused, Violations: []rules.Violation{{Reason: reason, RetryAfter: time.Minute}}}
	}
	var none, policy, preview refusal.Refusal
	policy.Deny([]runtime.Denial{{Code: "mine", Message: "not now"}}, &runtime.Spec{})
	preview.Refuse(runtime.ReasonPreviewFailed, runtime.Detail{Code: "gone"}, "no preview")
	for name, row := range map[string]struct {
		by        *refusal.Refusal
		v         rules.Verdict
		rulesOnly bool
		kind      runtime.OutcomeKind
		reasons   []runtime.Reason
		denials   int
	}{
		"duplicate":            {by: &policy, v: rules.Verdict{Answer: rules.Duplicate}},
		"rules":                {by: &none, v: refused(rules.ReasonCooldown), rulesOnly: true, reasons: []runtime.Reason{runtime.ReasonCooldown}},
		"rules before others":  {by: &policy, v: refused(rules.ReasonRunFinished), rulesOnly: true, reasons: []runtime.Reason{runtime.ReasonRunFinished}},
		"the last that is":     {by: &policy, v: refused(rules.ReasonIdempotencyConflict), rulesOnly: true, reasons: []runtime.Reason{runtime.ReasonIdempotencyConflict}},
		"the first that isn't": {by: &policy, v: refused(rules.ReasonStartConstraint), reasons: []runtime.Reason{runtime.ReasonStartConstraint, runtime.ReasonPolicyDenied}, denials: 1},
		"both":                 {by: &policy, v: refused(rules.ReasonCooldown), reasons: []runtime.Reason{runtime.ReasonCooldown, runtime.ReasonPolicyDenied}, denials: 1},
		"rules and preview":    {by: &preview, v: refused(rules.ReasonCooldown), rulesOnly: true, reasons: []runtime.Reason{runtime.ReasonCooldown}},
		"policy":               {by: &policy, v: rules.Verdict{Answer: rules.Admitted}, reasons: []runtime.Reason{runtime.ReasonPolicyDenied}, denials: 1},
		"preview":              {by: &preview, v: rules.Verdict{Answer: rules.Admitted}, kind: runtime.Failed, reasons: []runtime.Reason{runtime.ReasonPreviewFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			var out runtime.Outcome
			assert.Equal(t, row.rulesOnly, row.by.Combine(&out, "put", row.v))
			assert.Equal(t, row.kind, out.Kind)
			assert.Equal(t, row.reasons, out.AllReasons)
			assert.Len(t, out.Denials, row.denials)
			if len(row.reasons) > 0 {
				assert.Equal(t, row.reasons[0], out.Reason)
			}
		})
	}
	var out runtime.Outcome
	policy.Combine(&out, "put", refused(rules.ReasonCooldown))
	assert.Equal(t, `"put" is cooling down: 60s must pass; not now`, out.Message)
	assert.Equal(t, time.Minute, out.Detail.RetryAfter, "the detail is that of the first reason")
	policy.Combine(&out, "put", rules.Verdict{Answer: rules.Admitted})
	out.AllReasons = append(out.AllReasons, runtime.ReasonCooldown)
	assert.Equal(t, []runtime.Reason{runtime.ReasonPolicyDenied}, policy.Reasons)
}

// TestMayUnblock: nothing that other calls do helps a call whose run is over, or whose key or operation is wrong. What helps a
// call that repeats one that waits for consent is known without a search.
func TestMayUnblock(t *testing.T) {
	for reason, want := range map[runtime.Reason]bool{
		runtime.ReasonIdempotencyConflict: false, runtime.ReasonRunFinished: false, runtime.ReasonOperationNotAllowed: false,
		runtime.ReasonDuplicatePending: false,
		runtime.ReasonCooldown:         true, runtime.ReasonMaxCalls: true, runtime.ReasonPrerequisiteMissing: true,
	} {
		assert.Equal(t, want, refusal.MayUnblock(reason), reason)
	}
}

// TestWithheld: the first reason that holds for all calls of a tool is told.
func TestWithheld(t *testing.T) {
	for want, row := range map[string]struct {
		finished bool
		barred   rules.Reason
		blocked  bool
	}{
		"run_finished":          {true, rules.ReasonExiting, true},
		"exiting":               {false, rules.ReasonExiting, true},
		"blocked_after_timeout": {false, 0, true},
		"":                      {},
	} {
		d, withheld := refusal.Withheld(row.finished, row.barred, row.blocked)
		assert.Equal(t, want, d.Code)
		assert.Equal(t, want != "", withheld)
		assert.Equal(t, withheld, d.Message != "")
	}
}
