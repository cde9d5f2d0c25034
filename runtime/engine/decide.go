package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
)

// maxTries is how often a call is evaluated when other calls change the facts
// meanwhile. During the last evaluation no other call of the session is admitted.
const maxTries = 3

// decide asks the policy, checks the rules and, when nothing refuses the call, admits it or lets it
// wait for consent. The facts of the evaluation still hold at that moment, and the call is counted
// in them. A call that need not wait for anything is started in the same step. A call that was
// approved passes through decide again.
func (c *call) decide() *result {
	for try := 1; ; try++ {
		if try == maxTries && !c.excludeOtherCalls() {
			return workerDone
		}
		if !c.snapshot() {
			return cancellation(runtime.ReasonRunClosed)
		}
		if !c.evaluatePolicy() || !c.setRulesCall() || !c.prepareConsent() {
			return workerDone
		}
		tapped := c.tapDecision()
		adm := c.admit()
		if tapped != nil && !adm.again {
			c.exec.follower.Decided(tapped)
		}
		switch {
		case adm.again:
			if !c.waitFor(adm.wait) {
				return workerDone
			}
			continue
		case adm.ends == nil && c.life.Attempt() > 0:
			c.worker.Arm(c.scope.Due())
		case adm.ends != nil && adm.ends != workerDone && c.dry:
			c.keepVerdict(adm.ends)
		}
		return adm.ends
	}
}

// waitFor waits for an event, if there is one, and reports false when the call has ended.
func (c *ident) waitFor(held *sched.Event) bool {
	if held == nil {
		return !c.done().Fired()
	}
	return c.exec.sched.Wait(held, c.done(), nil) == sched.First
}

// excludeOtherCalls excludes the other calls of the session from admission until the
// call is admitted or ends. It holds no lock: the goroutine that ends the call ends the
// exclusion, even while the policy hangs.
func (c *call) excludeOtherCalls() bool {
	s := c.run.session
	for {
		c.mu.Lock()
		s.mu.Lock()
		held := s.admittingDone
		if held == nil && !c.life.Ended() {
			s.admitting, s.admittingDone = c, sched.NewEvent()
		}
		mine := s.admitting == c
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
	if c.run.node.closing {
		return false
	}
	if c.position == 0 && !c.dry {
		p := c.run.node
		p.active = append(p.active, c)
		c.position = len(p.active)
	}
	c.worker.Scratch.view.open(c)
	return true
}

// tapDecision returns the decision that the policy has just made about the call, for the tap; nil
// when there is none to follow.
func (c *work) tapDecision() *tap.Decision {
	if c.exec.follower == nil || c.dry {
		return nil
	}
	return c.decisionForTap()
}

// prepareConsent prepares what approvers are shown of the call, if it needs consent. It reports
// false when the call has ended.
func (c *call) prepareConsent() bool {
	if j := &c.worker.Scratch.evaluation; j.Reason != runtime.ReasonNone || !j.asks && !c.approved() {
		return true
	}
	return c.prepareQuestion()
}
