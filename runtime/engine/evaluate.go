package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// evaluatePolicy asks the policy about the call and applies its rewrites. It stores the
// result in the worker's evaluation, and reports false when the call has ended.
func (c *call) evaluatePolicy() bool {
	j := &c.worker.Scratch.evaluation
	*j = evaluation{}
	c.values.Final, c.values.FinalText = c.values.Args, c.values.Text
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
		j.Deny(d.Denials, c.tool.Spec)
	case d.Effect == runtime.EffectDeny:
		j.Refuse(runtime.ReasonPolicyDenied, runtime.Detail{Rule: "no_allow"}, fmt.Sprintf("no policy allows this call of %q", c.record.Tool))
	default:
		if len(d.Obligations) > 0 {
			c.checkObligations(d.Obligations)
		}
		declared := c.tool.Spec.Consent
		j.asks = d.Effect == runtime.EffectAsk || len(d.Asks) > 0 || declared != nil && declared.Ask == runtime.ConsentAskAlways
	}
	return true
}

// reevaluate applies the rewrites of d and asks the policy once more. Rewrites in the
// second answer must leave the arguments as they are.
func (c *call) reevaluate(d runtime.Decision) (runtime.Decision, bool) {
	text, args, err := c.tool.Rewrite(c.values.FinalText, c.values.Final, d.Rewrites)
	if err != nil {
		return d, c.failPolicy("rewrite", err)
	}
	c.values.Final, c.values.FinalText = args, text
	d, ok := c.askPolicy()
	if !ok || len(d.Rewrites) == 0 || len(d.Denials) > 0 || d.Effect == runtime.EffectDeny {
		return d, ok
	}
	_, again, err := c.tool.Rewrite(c.values.FinalText, c.values.Final, d.Rewrites)
	if err == nil && !tools.Equal(again, c.values.Final) {
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
func (c *work) failPolicyWith(rule string, fault *action.CallError) bool {
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
			if err := redact.Check(c.record.Tool, o.Args, c.tool.Place); err != nil {
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

// askPolicy evaluates the policy. It reports false when the call has ended, and when the
// policy could not be asked; the evaluation then holds the reason.
func (c *call) askPolicy() (runtime.Decision, bool) {
	if err := c.exec.evaluations.Blocked(c.tool.Index); err != nil {
		return runtime.Decision{}, c.failPolicy(ruleBreaker, err)
	}
	if !c.awaitEvaluationSlot() {
		return runtime.Decision{}, false
	}
	ctx := &c.policyCtx
	if ctx.Parent != nil { // not the first evaluation: the first context may still be in use
		ctx = new(deadline.Context)
		c.now = c.clock()
	}
	parent, end := c.span.Policy(c.workCtx)
	defer end()
	ctx.Parent = parent
	c.setPolicyInput(&c.worker.Scratch.input)
	if !c.beginEvaluation(ctx) {
		return runtime.Decision{}, false
	}
	d, err := c.exec.policy.Decide(ctx, &c.worker.Scratch.input)
	var fault *action.CallError
	if err != nil { // its Error method may hang: reading the text is part of the evaluation
		fault = c.newFault(runtime.ReasonPolicyError, err)
	}
	c.now = c.clock()
	if !c.finishEvaluation(ctx, d.Revision) {
		return runtime.Decision{}, false
	}
	if err != nil {
		return runtime.Decision{}, c.failPolicyWith("error", fault)
	}
	return d, true
}

// awaitEvaluationSlot waits until the policy may be asked about c, within the budget of its
// turn. It reports false when the call has ended meanwhile.
func (c *call) awaitEvaluationSlot() bool {
	v := &c.exec.evaluations
	wait := v.Acquire()
	if wait == nil {
		return true
	}
	if c.enterPhase(lifecycle.Admitting, c.budgetEnds()) && c.exec.sched.Wait(wait, c.done(), nil) == sched.First {
		c.now = c.clock()
		return true
	}
	v.CancelWait(wait)
	return false
}

// beginEvaluation begins an evaluation that has acquired its place. It reports false, and
// releases the place, when the call has ended.
func (c *call) beginEvaluation(ctx *deadline.Context) bool {
	c.mu.Lock()
	ticks, tick := c.exec.evaluations.Limit()
	if !c.life.Evaluate(c.now, ticks, tick) {
		c.mu.Unlock()
		c.exec.evaluations.Release()
		return false
	}
	c.evaluation = ctx
	c.watch.Enter(tally.Policy, c.now)
	due := c.life.Due()
	c.mu.Unlock()
	c.worker.Arm(due)
	return true
}

// finishEvaluation records that the policy has returned. It reports false when the policy took
// too long or the call has ended meanwhile.
func (c *call) finishEvaluation(ctx *deadline.Context, revision string) bool {
	c.mu.Lock()
	c.revision = revision
	c.watch.Enter(tally.Other, c.now)
	inTime := c.endEvaluation() && c.life.Enter(lifecycle.Admitting, c.budgetEnds())
	c.mu.Unlock()
	c.worker.Arm(c.budgetEnds())
	ctx.Cancel(deadline.Canceled)
	return inTime
}

// endEvaluation records that the evaluation is over and reports whether it was in time.
// c.mu is held.
func (c *call) endEvaluation() bool {
	abandoned := c.life.Evaluated()
	if abandoned {
		c.exec.evaluations.Returned(c.tool.Index)
	} else {
		c.exec.evaluations.Release()
	}
	return !abandoned
}

// setPolicyInput sets in to the input of the policy for the call.
func (c *work) setPolicyInput(in *runtime.PolicyInput) {
	*in = c.policyInputOf(c.values.Final, &c.worker.Scratch.view, c.now)
}

// policyInputOf returns the input of a policy that evaluates the call with the arguments args.
func (c *ident) policyInputOf(args wire.Value, of facts.Source, now time.Time) runtime.PolicyInput {
	cfg := c.run.session.cfg.Load()
	in := runtime.PolicyInput{
		Tool: c.tool.Spec, Index: c.tool.Index, Args: args,
		CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id,
		Principal: c.run.principal, Capabilities: cfg.Capabilities, Behavior: cfg.Behavior, Modes: cfg.Modes,
		Now: now,
	}
	in.SetFacts(of)
	return in
}

var errNotStable = errors.New("a rewrite must leave alone what is as it wants it")
