package runtime

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// declare begins the life cycle of the call and checks that its tool exists. No other
// goroutine has the call yet: the transition needs no lock.
func (c *call) declare() bool {
	c.unrecorded = c.exec.log.on() && c.exec.log.stalled()
	c.transition(EventInvoked, StateDeclared, &note{at: c.now})
	if c.tool == nil {
		names := c.exec.reg.Names()
		return c.end(result{
			event: EventDenied, to: StateFailed,
			outcome: Outcome{
				Kind: Denied, Reason: ReasonUnknownTool, Detail: Detail{Available: names},
				Message: fmt.Sprintf("there is no tool %s; there are: %s", quote(c.record.tool), list(names)),
			},
		})
	}
	return true
}

// validate decodes and checks the input.
func (c *call) validate() bool {
	in, violations, fault := c.decode()
	if violations == nil && fault == nil {
		return c.accept(&in)
	}
	return c.end(unreadable(violations, fault))
}

// unreadable returns the result of a call whose input is invalid, or could not be read.
func unreadable(violations []wire.Violation, fault *CallError) result {
	return result{
		event: EventDenied, to: StateFailed, fault: fault,
		outcome: Outcome{
			Kind: Denied, Reason: ReasonInvalidInput, Violations: violations,
			Message: invalidInput(violations),
		},
	}
}

// A decodedInput holds the decoded input of a call.
type decodedInput struct {
	args      wire.Value
	text      []byte // of args
	heartbeat bool
}

// accept stores the decoded input. It reports false when the call has ended.
func (c *call) accept(in *decodedInput) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Ended() {
		return false
	}
	c.args, c.text, c.heartbeat = in.args, in.text, in.heartbeat
	c.transition(EventValidated, StateValidated, &note{at: c.now})
	return true
}

// decode reads the input. A panic is a fault of the tool's codec.
func (c *call) decode() (in decodedInput, violations []wire.Violation, fault *CallError) {
	defer func() {
		if v := recover(); v != nil {
			fault = c.panicked(v)
		}
	}()
	if c.record.digest {
		return in, []wire.Violation{{
			Keyword:  "size",
			Expected: fmt.Sprintf("at most %d bytes", c.tool.spec.inputLimits().Size), Actual: fmt.Sprintf("%d bytes", c.size),
		}}, nil
	}
	in.args, in.text, in.heartbeat, violations = c.tool.read(c.record.input)
	return in, violations, nil
}

// checkGates counts the call in the executor and the run, and checks that the journal can be
// written, that the context is not done, and that the turn has the minimum budget left.
func (c *call) checkGates() bool {
	if !c.exec.gate.enter() {
		return c.refuse(ReasonShuttingDown, Detail{}, "the executor is shutting down")
	}
	if !c.run.part.workers.enter() {
		c.exec.gate.leave()
		return c.refuse(ReasonRunFinished, Detail{}, "the run is finished: it takes no more calls")
	}
	c.entered = true
	if !c.writable() {
		return false
	}
	if c.ctx.Err() != nil {
		c.cancel(ReasonCancelled)
		return false
	}
	if left, bounded := c.turn.left(c.now); bounded && left < max(c.turn.minimum, 1) {
		return c.refuse(ReasonDeadline, Detail{Deadline: max(left, 0)}, fmt.Sprintf(
			"%s of the turn's time is left, a call needs at least %s: it may be made in the next turn",
			limit(max(left, 0)), limit(c.turn.minimum)))
	}
	return !c.turn.blocks(c.index) || !c.answered() && c.unblocked()
}

// answered refuses a call of a tool that timed out in this turn when no later turn would change the
// answer, such as that the call repeats an earlier one. It does not ask the policy: the arguments
// are those of the input. It allocates, so it is called for such tools only.
func (c *call) answered() bool {
	var rc rules.Call
	if !c.describesTo(&rc, c.args) {
		return false
	}
	s := c.run.session
	s.mu.Lock()
	var e *result
	if v := c.check(&rc); v.Answer == rules.Duplicate || !v.Admitted() && v.Primary().Reason < rules.ReasonStartConstraint {
		e = c.refused(v, &rc, &evaluation{})
	}
	s.mu.Unlock()
	if e != nil {
		c.end(*e)
	}
	return e != nil
}

// unblocked refuses a tool that timed out in this turn and may not be retried.
func (c *call) unblocked() bool {
	if !c.turn.blocks(c.index) {
		return true
	}
	return c.refuse(ReasonBlockedAfterTimeout, Detail{}, fmt.Sprintf(
		"%q timed out in this turn and is not retryable: it may be called again in the next turn", c.record.tool))
}
