package runtime

import (
	"errors"
	"fmt"
)

// maxTries is how often a call is judged because other calls changed the facts
// meanwhile; the last time nobody else is admitted.
const maxTries = 3

var errAbandoned = errors.New("the evaluation took too long and was abandoned")

// decide asks the policy and, when nothing refuses the call, admits it: judged
// on facts that still stand at that moment, and counted in them.
func (c *call) decide() bool {
	for try := 1; ; try++ {
		if try == maxTries && !c.hold() {
			return false
		}
		facts, ok := c.run.snapshot(c)
		if !ok {
			c.cancel(ReasonRunClosed)
			return false
		}
		if !c.judge(facts) {
			return false
		}
		if c.dry {
			c.runs = true
			return c.end(ending{event: EventAborted, to: StateAborted})
		}
		switch held := c.admit(facts); {
		case c.reserved:
			return true
		case !c.waitFor(held):
			return false
		}
	}
}

// waitFor waits for others, if there are any, and reports false when the call
// has ended.
func (c *call) waitFor(others <-chan struct{}) bool {
	if others == nil {
		select {
		case <-c.record.done:
			return false
		default:
			return true
		}
	}
	select {
	case <-others:
		return true
	case <-c.record.done:
		return false
	}
}

// hold keeps others from being admitted until the call is through, or ends. It
// is no lock: whoever ends the call lets go of it, whatever the policy does.
func (c *call) hold() bool {
	s := c.run.session
	for {
		c.mu.Lock()
		s.mu.Lock()
		held := s.held
		if held == nil && !c.ending {
			s.holder, s.held = c, make(chan struct{})
		}
		mine := s.holder == c
		s.mu.Unlock()
		c.mu.Unlock()
		if mine || !c.waitFor(held) {
			return mine
		}
	}
}

// admit counts the call in, if the facts still stand. When it has to wait before
// it is judged again admit returns for what.
func (c *call) admit(facts *Facts) (held <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return nil
	}
	if held = c.run.reserve(c, facts); c.reserved {
		c.transition(EventAuthorized, StateAuthorized, note{at: c.now})
	}
	return held
}

// ask evaluates the policy. It reports false when the call has ended.
func (c *call) ask(facts *Facts) (Decision, bool) {
	if c.exec.abandoned.Load() >= maxAbandoned {
		return Decision{}, c.policyFault("breaker_open", fmt.Errorf("%d evaluations were abandoned and have not ended", maxAbandoned))
	}
	ctx := &c.policyCtx
	if ctx.parent != nil { // not the first evaluation: the first context may still be in use
		ctx = new(callContext)
		c.now = c.clock()
	}
	ctx.parent, ctx.due = c.ctx, c.now.Add(c.exec.patience)
	cfg := &c.run.session.cfg
	c.worker.input = PolicyInput{
		Tool: c.tool.spec, Index: c.index, Args: c.final,
		CallID: c.in.ID, SessionID: cfg.ID, RunID: c.run.id,
		Principal: cfg.Principal, Capabilities: cfg.Capabilities, Behavior: cfg.Behavior, Modes: cfg.Modes,
		Now: c.now, Facts: facts,
	}
	if !c.evaluate(ctx) {
		return Decision{}, false
	}
	d, err := c.exec.policy.Decide(ctx, &c.worker.input)
	c.now = c.clock()
	if !c.evaluated(ctx, d.Revision) {
		return Decision{}, false
	}
	if err != nil {
		return Decision{}, c.policyFault("error", err)
	}
	return d, true
}

// evaluate starts the clock of an evaluation.
func (c *call) evaluate(ctx *callContext) bool {
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return false
	}
	c.phase, c.due, c.evaluating, c.evaluation = phaseDeciding, ctx.due, true, ctx
	c.mu.Unlock()
	c.worker.arm(ctx.due)
	return true
}

// evaluated notes that the policy has returned. It reports false when it took
// too long or the call has ended meanwhile.
func (c *call) evaluated(ctx *callContext, revision string) bool {
	c.mu.Lock()
	c.revision = revision
	inTime := c.settlePolicy() && !c.ending
	if inTime {
		c.phase, c.due = phaseAdmitting, c.turn.ends
	}
	c.mu.Unlock()
	c.worker.arm(c.turn.ends)
	ctx.cancel(whyCanceled)
	return inTime
}

// settlePolicy notes that no policy is being evaluated any more and reports
// whether it was in time. c.mu is held.
func (c *call) settlePolicy() bool {
	c.evaluating = false
	if c.abandoned {
		c.exec.abandoned.Add(-1)
	}
	return !c.abandoned
}

// policyFault denies the call because the policy could not be asked or made no sense.
func (c *call) policyFault(rule string, err error) bool {
	return c.end(ending{
		event: EventDenied, to: StateDenied, fault: c.faulty(ReasonPolicyError, err),
		outcome: Outcome{
			Kind: Denied, Reason: ReasonPolicyError, Detail: Detail{Rule: rule},
			Message: "the policy could not judge the call, which is denied therefore",
		},
	})
}
