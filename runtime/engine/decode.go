package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// emitInvoked begins the life cycle of the call. No other goroutine has the call yet: the transition
// needs no lock.
func (c *call) emitInvoked() {
	c.unrecorded = c.exec.log.On() && c.exec.log.Stalled()
	c.transition(runtime.EventInvoked, runtime.StateDeclared, &note{at: c.now})
}

// lookup checks that the tool of the call exists.
func (c *ident) lookup() *result {
	if c.tool != nil {
		return nil
	}
	names := c.exec.reg.Names()
	return &result{
		event: runtime.EventDenied, to: runtime.StateFailed,
		outcome: runtime.Outcome{
			Kind: runtime.Denied, Reason: runtime.ReasonUnknownTool, Detail: runtime.Detail{Available: names},
			Message: fmt.Sprintf("there is no tool %s; there are: %s", wording.Quote(c.record.tool), wording.Names(names)),
		},
	}
}

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

// decode decodes and checks the input, strictly and once.
func (c *call) decode() *result {
	in, violations, fault := c.readInput()
	if violations != nil || fault != nil {
		return invalidInputResult(violations, fault)
	}
	return c.recordValidated(&in)
}

// A decodedInput holds the decoded input of a call.
type decodedInput struct {
	args      wire.Value
	text      []byte // of args
	heartbeat bool
}

// readInput reads the input. A panic is a fault of the tool's codec.
func (c *ident) readInput() (in decodedInput, violations []wire.Violation, fault *CallError) {
	defer func() {
		if v := recover(); v != nil {
			fault = c.panicFault(v)
		}
	}()
	if c.record.digest {
		return in, []wire.Violation{{
			Keyword:  "size",
			Expected: fmt.Sprintf("at most %d bytes", c.tool.spec.InputLimit()), Actual: fmt.Sprintf("%d bytes", c.size),
		}}, nil
	}
	in.args, in.text, in.heartbeat, violations = c.tool.read(c.record.input)
	return in, violations, nil
}

// recordValidated stores the decoded input.
func (c *call) recordValidated(in *decodedInput) *result {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Ended() {
		return workerDone
	}
	c.args, c.text, c.heartbeat = in.args, in.text, in.heartbeat
	c.transition(runtime.EventValidated, runtime.StateValidated, &note{at: c.now})
	return nil
}

// invalidInputResult returns the result of a call whose input is invalid, or could not be read.
func invalidInputResult(violations []wire.Violation, fault *CallError) *result {
	return &result{
		event: runtime.EventDenied, to: runtime.StateFailed, fault: fault,
		outcome: runtime.Outcome{
			Kind: runtime.Denied, Reason: runtime.ReasonInvalidInput, Violations: violations,
			Message: wording.InvalidInput(violations),
		},
	}
}
