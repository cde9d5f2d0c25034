package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// askPolicy evaluates the policy. It reports false when the call has ended, and when the
// policy could not be asked; the evaluation then holds the reason.
func (c *call) askPolicy() (runtime.Decision, bool) {
	if err := c.exec.evaluations.Blocked(c.index); err != nil {
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
	var fault *CallError
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

// setPolicyInput sets in to the input of the policy for the call.
func (c *work) setPolicyInput(in *runtime.PolicyInput) {
	*in = c.policyInputOf(c.final, &c.worker.Scratch.view, c.now)
}

// policyInputOf returns the input of a policy that evaluates the call with the arguments args.
func (c *ident) policyInputOf(args wire.Value, of facts.Source, now time.Time) runtime.PolicyInput {
	cfg := c.run.session.cfg.Load()
	in := runtime.PolicyInput{
		Tool: c.tool.spec, Index: c.index, Args: args,
		CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id,
		Principal: c.run.principal, Capabilities: cfg.Capabilities, Behavior: cfg.Behavior, Modes: cfg.Modes,
		Now: now,
	}
	in.SetFacts(of)
	return in
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
		c.exec.evaluations.Returned(c.index)
	} else {
		c.exec.evaluations.Release()
	}
	return !abandoned
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
