package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// evaluatePolicy asks the policy about the call and applies its rewrites. It stores the
// result in the worker's evaluation, and reports false when the call has ended.
func (c *call) evaluatePolicy() bool {
	j := &c.worker.Scratch.evaluation
	*j = evaluation{}
	c.final, c.finalText = c.args, c.text
	d, ok := c.askPolicy()
	if ok && len(d.Rewrites) > 0 && len(d.Denials) == 0 && d.Effect != runtime.EffectDeny {
		d, ok = c.reevaluate(d)
	}
	if !ok {
		return j.Reason != runtime.ReasonNone
	}
	j.decision = d
	c.obligations = d.Obligations
	switch {
	case d.Effect > runtime.EffectAllow:
		c.failPolicy("effect", fmt.Errorf("the policy answered %v", d.Effect))
	case len(d.Denials) > 0:
		j.Deny(d.Denials, c.tool.spec)
	case d.Effect == runtime.EffectDeny:
		j.Refuse(runtime.ReasonPolicyDenied, runtime.Detail{Rule: "no_allow"}, fmt.Sprintf("no policy allows this call of %q", c.record.tool))
	default:
		if len(d.Obligations) > 0 {
			c.checkObligations(d.Obligations)
		}
		declared := c.tool.spec.Consent
		j.asks = d.Effect == runtime.EffectAsk || len(d.Asks) > 0 || declared != nil && declared.Ask == runtime.ConsentAskAlways
	}
	return true
}

// reevaluate applies the rewrites of d and asks the policy once more. Rewrites in the
// second answer must leave the arguments as they are.
func (c *call) reevaluate(d runtime.Decision) (runtime.Decision, bool) {
	text, args, err := c.rewrite(c.finalText, c.final, d.Rewrites)
	if err != nil {
		return d, c.failPolicy("rewrite", err)
	}
	c.final, c.finalText = args, text
	d, ok := c.askPolicy()
	if !ok || len(d.Rewrites) == 0 || len(d.Denials) > 0 || d.Effect == runtime.EffectDeny {
		return d, ok
	}
	_, again, err := c.rewrite(c.finalText, c.final, d.Rewrites)
	if err == nil && !equalValues(again, c.final) {
		err = errNotStable
	}
	if err != nil {
		return d, c.failPolicy("rewrite", fmt.Errorf("rewrite %s, after a first rewrite: %w", rewrites.Name(&d.Rewrites[0]), err))
	}
	return d, true
}

// failPolicy denies the call because the policy could not be asked or answered with an
// error. It reports false.
func (c *work) failPolicy(rule string, err error) bool {
	return c.failPolicyWith(rule, c.newFault(runtime.ReasonPolicyError, err))
}

// failPolicyWith is failPolicy for a fault that exists already.
func (c *work) failPolicyWith(rule string, fault *CallError) bool {
	j := &c.worker.Scratch.evaluation
	j.Refuse(runtime.ReasonPolicyError, runtime.Detail{Rule: rule}, "the policy could not judge the call, which is denied therefore")
	j.fault = fault
	return false
}

// checkObligations refuses the call when it cannot meet the obligations of the policy.
func (c *work) checkObligations(obligations []runtime.Obligation) {
	for _, o := range obligations {
		switch o.Code {
		case "notify":
			if _, violations := wire.ParseRaw(o.Args, wire.Limits{}); len(o.Args) > 0 && violations != nil {
				c.failPolicy("notify", fmt.Errorf("obligation notify %s: its args are no JSON: %s", rewrites.At(o.At), wording.Violations(violations)))
				return
			}
		case redact.Obligation:
			if err := redact.Check(c.record.tool, o.Args, c.tool.place); err != nil {
				c.failPolicy("redact_output", fmt.Errorf("obligation redact_output %s: %w", rewrites.At(o.At), err))
				return
			}
		default:
			c.worker.Scratch.evaluation.Refuse(runtime.ReasonPolicyDenied, runtime.Detail{Rule: "unknown_obligation", At: o.At}, fmt.Sprintf(
				"the policy demands %q, which cannot be met here", o.Code))
			return
		}
	}
}
