package refusal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestDeny: the denials of a policy, in the order of their reasons, each reason and each text once.
func TestDeny(t *testing.T) {
	spec := &runtime.Spec{Behaviors: []string{"calm"}}
	var r refusal.Refusal
	r.Deny([]runtime.Denial{{Code: "mine", At: "a.rego:1"}, {Code: "mode_off", Message: "off"}, {Code: "other", Message: "off"}}, spec)
	assert.Equal(t, runtime.ReasonModeOff, r.Reason)
	assert.Equal(t, []runtime.Reason{runtime.ReasonModeOff, runtime.ReasonPolicyDenied}, r.Reasons)
	assert.Equal(t, "off; mine", r.Message)
	assert.Equal(t, runtime.Detail{}, r.Detail)
	assert.Equal(t, "mode_off", r.Denials[0].Code)

	r = refusal.Refusal{}
	given := []runtime.Denial{{Code: "mine", At: "a.rego:1"}}
	r.Deny(given, spec)
	assert.Equal(t, runtime.Detail{Rule: "mine", At: "a.rego:1"}, r.Detail)
	r = refusal.Refusal{}
	r.Deny([]runtime.Denial{{Code: "behavior_not_allowed"}}, spec)
	assert.Equal(t, []string{"calm"}, r.Detail.Allowed)
	r.Refuse(runtime.ReasonPolicyError, runtime.Detail{Rule: "error"}, "text")
	assert.Equal(t, []runtime.Reason{runtime.ReasonPolicyError}, r.Reasons)
	assert.Equal(t, "text", r.Message)
}

// TestRules: the violations of rules give the reasons, the detail of the first and a message of all.
func TestRules(t *testing.T) {
	var out runtime.Outcome
	refusal.Rules(&out, "put", rules.Verdict{Answer: rules.Refused, Of: "c1", Violations: []rules.Violation{
		{Reason: rules.ReasonMaxCalls, Max: 2, Used: 2}, {Reason: rules.ReasonMaxCalls, Max: 9, Used: 9, Shared: true},
		{Reason: rules.ReasonCooldown, RetryAfter: time.Minute},
	}})
	assert.Equal(t, runtime.ReasonMaxCalls, out.Reason)
	assert.Equal(t, []runtime.Reason{runtime.ReasonMaxCalls, runtime.ReasonCooldown}, out.AllReasons)
	assert.Equal(t, runtime.Detail{Max: 2, Used: 2}, out.Detail)
	assert.Equal(t, "c1", out.Of)
	assert.Equal(t, `"put" may be called 2 times in a run; all tools together may be called 9 times in a run; "put" is cooling down: 60s must pass`, out.Message)
}

// TestRulesOfADuplicate: a call that repeats one that waits for consent is told which, and to wait for the answer.
// SEMANTICS 4.8.12
func TestRulesOfADuplicate(t *testing.T) {
	var out runtime.Outcome
	refusal.Rules(&out, "put", rules.Verdict{Of: "c1", Violations: []rules.Violation{{Reason: rules.ReasonDuplicatePending, Waiting: []string{"c1"}}}})
	assert.Equal(t, []runtime.Reason{runtime.ReasonDuplicatePending}, out.AllReasons)
	assert.Equal(t, runtime.Detail{Waiting: []string{"c1"}}, out.Detail)
	assert.Equal(t, []runtime.Step{{Kind: runtime.StepWait, Tool: "put", Call: "c1"}}, out.Steps)
}

// TestUnblock: an outcome says what would help, and when nothing does.
func TestUnblock(t *testing.T) {
	drop := runtime.Step{Kind: runtime.StepDrop, Tool: "a"}
	call := runtime.Step{Kind: runtime.StepCall, Tool: "b"}
	for name, row := range map[string]struct {
		way   rules.Way
		text  string
		steps int
	}{
		"unknown": {},
		"never":   {way: rules.Way{Outlook: rules.OutlookNever}, text: "; it cannot be called any more in this run"},
		"drop": {
			way:  rules.Way{Outlook: rules.OutlookDrop, Steps: []runtime.Step{call, drop}},
			text: "; it cannot be called any more in this run, unless " + drop.String(),
		},
		"open": {
			way: rules.Way{Outlook: rules.OutlookOpen, Steps: []runtime.Step{call, drop}}, steps: 2,
			text: "; what would help: " + call.String() + ", then " + drop.String(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := runtime.Outcome{Message: "no"}
			refusal.Unblock(&out, row.way)
			assert.Equal(t, "no"+row.text, out.Message)
			assert.Len(t, out.Steps, row.steps)
		})
	}
}
