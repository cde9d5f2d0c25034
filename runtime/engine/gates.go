package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// checkGates counts the call in the executor and the run, and checks that the journal can be
// written, that the context is not done, and that the turn has the minimum budget left.
func (c *call) checkGates() *result {
	if !c.exec.gate.Enter() {
		return denial(runtime.ReasonShuttingDown, runtime.Detail{}, "the executor is shutting down")
	}
	if !c.run.node.workers.Enter() {
		c.exec.gate.Leave()
		return denial(runtime.ReasonRunFinished, runtime.Detail{}, "the run is finished: it takes no more calls")
	}
	c.inGates = true
	if r := c.checkJournal(); r != nil {
		return r
	}
	if c.ctx.Err() != nil {
		return cancellation(runtime.ReasonCancelled)
	}
	if left, bounded := c.turn.remainingBudget(c.now); bounded && left < max(c.turn.minimum, 1) {
		return denial(runtime.ReasonDeadline, runtime.Detail{Deadline: max(left, 0)}, fmt.Sprintf(
			"%s of the turn's time is left, a call needs at least %s: it may be made in the next turn",
			wording.Limit(max(left, 0)), wording.Limit(c.turn.minimum)))
	}
	if !c.turn.blocks(c.index) {
		return nil
	}
	if r := c.deniedForGood(); r != nil {
		return r
	}
	return c.checkBlocked()
}

// deniedForGood refuses a call of a tool that timed out in this turn when no later turn would
// change the answer, such as that the call repeats an earlier one. It does not ask the policy: the
// arguments are those of the input. It allocates, so it is called for such tools only.
func (c *call) deniedForGood() *result {
	var rc rules.Call
	if !c.tryFillRulesCall(&rc, c.args) {
		return nil
	}
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := c.checkRules(&rc); v.Answer == rules.Duplicate || !v.Admitted() && v.Primary().Reason < rules.ReasonStartConstraint {
		return c.denialBy(v, &rc, &evaluation{})
	}
	return nil
}

// checkBlocked refuses a tool that timed out in this turn and may not be retried.
func (c *ident) checkBlocked() *result {
	if !c.turn.blocks(c.index) {
		return nil
	}
	return denial(runtime.ReasonBlockedAfterTimeout, runtime.Detail{}, fmt.Sprintf(
		"%q timed out in this turn and is not retryable: it may be called again in the next turn", c.record.tool))
}
