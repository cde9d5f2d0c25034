package engine

import (
	"errors"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxTries is how often a call is evaluated when other calls change the facts
// meanwhile. During the last evaluation no other call of the session is admitted.
const maxTries = 3

var errAbandoned = errors.New("the evaluation took too long and was abandoned")

// decide asks the policy, checks the rules and, when nothing refuses the call, admits it or lets it
// wait for consent. The facts of the evaluation still hold at that moment, and the call is counted
// in them. When decide returns true, a call that need not wait for anything has started. A call
// that was approved passes through decide again.
func (c *call) decide() bool {
	for try := 1; ; try++ {
		if try == maxTries && !c.excludeOtherCalls() {
			return false
		}
		if !c.snapshot() {
			c.cancel(runtime.ReasonRunClosed)
			return false
		}
		if !c.evaluatePolicy() || !c.describe() || !c.show() {
			return false
		}
		tapped := c.tapDecision()
		next, held, e := c.admit()
		if tapped != nil && next != nextAgain {
			c.exec.follower.Decided(tapped)
		}
		switch next {
		case nextRun:
			if c.life.Attempt() > 0 {
				c.worker.arm(c.running.due)
			}
			return true
		case nextEnd:
			if c.dry {
				c.judged(e)
			}
			return c.end(*e)
		case nextWait:
			return false
		}
		if !c.waitFor(held) {
			return false
		}
	}
}

// waitFor waits for a signal, if there is one, and reports false when the call has ended.
func (c *call) waitFor(held *sched.Event) bool {
	if held == nil {
		return !c.over().Fired()
	}
	return c.exec.sched.Wait(held, c.over(), nil) == sched.First
}

// excludeOtherCalls excludes the other calls of the session from admission until the
// call is admitted or ends. It holds no lock: the goroutine that ends the call ends the
// exclusion, even while the policy hangs.
func (c *call) excludeOtherCalls() bool {
	s := c.run.session
	for {
		c.mu.Lock()
		s.mu.Lock()
		held := s.held
		if held == nil && !c.life.Ended() {
			s.holder, s.held = c, sched.NewEvent()
		}
		mine := s.holder == c
		s.mu.Unlock()
		c.mu.Unlock()
		if mine || !c.waitFor(held) {
			return mine
		}
	}
}

// snapshot opens the view of the facts for an evaluation and, the first time, adds the
// call to the active calls of its run. It reports false when the run is being closed.
func (c *call) snapshot() bool {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.run.part.closing {
		return false
	}
	if c.position == 0 && !c.dry {
		p := c.run.part
		p.active = append(p.active, c)
		c.position = len(p.active)
	}
	c.worker.view.open(c)
	return true
}

// resumed reports whether the call has been approved.
func (c *call) resumed() bool { return c.asked != nil && c.asked.id != "" }

// ask evaluates the policy. It reports false when the call has ended, and when the
// policy could not be asked; the evaluation then holds the reason.
func (c *call) ask() (runtime.Decision, bool) {
	if err := c.exec.evaluations.blocked(c.index); err != nil {
		return runtime.Decision{}, c.policyFault(ruleBreaker, err)
	}
	if !c.awaitPlace() {
		return runtime.Decision{}, false
	}
	ctx := &c.policyCtx
	if ctx.parent != nil { // not the first evaluation: the first context may still be in use
		ctx = new(callContext)
		c.now = c.clock()
	}
	ctx.parent = c.work
	c.tellPolicy(&c.worker.input)
	if !c.evaluate(ctx) {
		return runtime.Decision{}, false
	}
	d, err := c.exec.policy.Decide(ctx, &c.worker.input)
	var fault *CallError
	if err != nil { // its Error method may hang: reading the text is part of the evaluation
		fault = c.faulty(runtime.ReasonPolicyError, err)
	}
	c.now = c.clock()
	if !c.evaluated(ctx, d.Revision) {
		return runtime.Decision{}, false
	}
	if err != nil {
		return runtime.Decision{}, c.policyFaulty("error", fault)
	}
	return d, true
}

// tellPolicy sets in to the input of the policy for the call.
func (c *call) tellPolicy(in *runtime.PolicyInput) {
	*in = c.policyInputOf(c.final, &c.worker.view, c.now)
}

// policyInputOf returns the input of a policy that evaluates the call with the arguments args.
func (c *call) policyInputOf(args wire.Value, of facts.Source, now time.Time) runtime.PolicyInput {
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

// evaluate begins an evaluation that has acquired its place. It reports false, and
// releases the place, when the call has ended.
func (c *call) evaluate(ctx *callContext) bool {
	c.mu.Lock()
	if !c.life.Evaluate(c.now, c.exec.evaluations.ticks, c.exec.evaluations.tick) {
		c.mu.Unlock()
		c.exec.evaluations.places.Release(&c.exec.sched)
		return false
	}
	c.evaluation = ctx
	due := c.life.Due()
	c.mu.Unlock()
	c.worker.arm(due)
	return true
}

// evaluated records that the policy has returned. It reports false when the policy took
// too long or the call has ended meanwhile.
func (c *call) evaluated(ctx *callContext, revision string) bool {
	c.mu.Lock()
	c.revision = revision
	inTime := c.settlePolicy() && c.life.Enter(lifecycle.Admitting, c.ends())
	c.mu.Unlock()
	c.worker.arm(c.ends())
	ctx.cancel(whyCanceled)
	return inTime
}

// settlePolicy records that the evaluation is over and reports whether it was in time.
// c.mu is held.
func (c *call) settlePolicy() bool {
	abandoned := c.life.Evaluated()
	if abandoned {
		c.exec.evaluations.returned(c.index)
	} else {
		c.exec.evaluations.places.Release(&c.exec.sched)
	}
	return !abandoned
}
