package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// evaluatePolicy asks the policy about the call and applies its rewrites. It stores the
// result in the worker's evaluation, and reports false when the call has ended.
func (c *call) evaluatePolicy() bool {
	j := &c.worker.evaluation
	*j = evaluation{}
	if !j.Ask(c, c.tool, c.values.Args, c.values.Text) {
		return j.Reason != runtime.ReasonNone
	}
	if j.Judge(c.tool) {
		c.obligations = j.Decision.Obligations
	}
	if j.Reason == runtime.ReasonNone && !c.approved() && c.exec.processes.Changed(c.tool.Index) {
		j.Refuse(runtime.ReasonProgramChanged, runtime.Detail{}, outcomes.ProgramChanged(c.record.Tool).Message)
	}
	if j.Err != nil {
		j.fault = c.newFault(runtime.ReasonPolicyError, j.Err)
	}
	return true
}

// failPolicy denies the call because the policy could not be asked, or not about these arguments.
func (c *work) failPolicy(rule string, err error) {
	j := &c.worker.evaluation
	j.Fail(rule, err)
	j.fault = c.newFault(runtime.ReasonPolicyError, err)
}

// Ask asks the policy about the call with arguments, which are its final ones from now on. It reports false
// when the call has ended, and when the policy could not be asked; the evaluation then holds the reason.
func (c *call) Ask(args wire.Value, text []byte) (runtime.Decision, bool) {
	j, v := &c.worker.evaluation, &c.exec.evaluations
	c.values.Final, c.values.FinalText = args, text
	if err := v.Blocked(c.tool.Index); err != nil {
		c.failPolicy(decision.RuleBreaker, err)
		return runtime.Decision{}, false
	}
	switch has, waited := c.progress.AwaitEvaluation(v, c.done(), c.now); {
	case !has:
		return runtime.Decision{}, false
	case waited:
		c.now = c.clock()
	}
	ctx := &c.policyCtx
	if ctx.Parent != nil { // not the first evaluation: the first context may still be in use
		ctx = new(deadline.Context)
		c.now = c.clock()
	}
	parent, end := c.span.Policy(c.workCtx)
	defer end()
	ctx.Parent = parent
	c.worker.policyInput = c.policyInputOf(args, &c.worker.view, c.now)
	if !c.progress.BeginEvaluation(v, ctx, c.now) {
		return runtime.Decision{}, false
	}
	d, err := c.exec.policy.Decide(ctx, &c.worker.policyInput)
	if err != nil { // its Error method may hang: reading the text is part of the evaluation
		j.fault = c.newFault(runtime.ReasonPolicyError, err)
	}
	c.now = c.clock()
	if !c.progress.FinishEvaluation(v, c.tool.Index, d.Revision, c.now) {
		return runtime.Decision{}, false
	}
	if err != nil {
		j.Fail("error", err)
	}
	return d, err == nil
}

// policyInputOf returns the input of a policy that evaluates the call with the arguments args.
func (c *ident) policyInputOf(args wire.Value, of facts.Source, now time.Time) runtime.PolicyInput {
	cfg := c.run.session.cfg.Load()
	in := runtime.PolicyInput{
		Tool: c.tool.Spec, Index: c.tool.Index,
		CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id,
		Principal: c.run.by.Principal, Capabilities: c.run.capabilities(cfg), Behavior: cfg.Behavior, Modes: cfg.Modes,
		Now: now,
	}
	in.Args, in.Command = processes.Plan(c.tool, args)
	in.SetFacts(of)
	return in
}
