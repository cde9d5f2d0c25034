package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// declare begins the life cycle of the call and checks that its tool exists. No other
// goroutine has the call yet: the transition needs no lock.
func (c *call) declare() bool {
	c.unrecorded = c.exec.log.On() && c.exec.log.Stalled()
	c.transition(runtime.EventInvoked, runtime.StateDeclared, &note{at: c.now})
	if c.tool == nil {
		names := c.exec.reg.Names()
		return c.end(result{
			event: runtime.EventDenied, to: runtime.StateFailed,
			outcome: runtime.Outcome{
				Kind: runtime.Denied, Reason: runtime.ReasonUnknownTool, Detail: runtime.Detail{Available: names},
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
		event: runtime.EventDenied, to: runtime.StateFailed, fault: fault,
		outcome: runtime.Outcome{
			Kind: runtime.Denied, Reason: runtime.ReasonInvalidInput, Violations: violations,
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
	c.transition(runtime.EventValidated, runtime.StateValidated, &note{at: c.now})
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
			Expected: fmt.Sprintf("at most %d bytes", c.tool.spec.InputLimit()), Actual: fmt.Sprintf("%d bytes", c.size),
		}}, nil
	}
	in.args, in.text, in.heartbeat, violations = c.tool.read(c.record.input)
	return in, violations, nil
}

// checkGates counts the call in the executor and the run, and checks that the journal can be
// written, that the context is not done, and that the turn has the minimum budget left.
func (c *call) checkGates() bool {
	if !c.exec.gate.Enter() {
		return c.refuse(runtime.ReasonShuttingDown, runtime.Detail{}, "the executor is shutting down")
	}
	if !c.run.part.workers.Enter() {
		c.exec.gate.Leave()
		return c.refuse(runtime.ReasonRunFinished, runtime.Detail{}, "the run is finished: it takes no more calls")
	}
	c.entered = true
	if !c.writable() {
		return false
	}
	if c.ctx.Err() != nil {
		c.cancel(runtime.ReasonCancelled)
		return false
	}
	if left, bounded := c.turn.left(c.now); bounded && left < max(c.turn.minimum, 1) {
		return c.refuse(runtime.ReasonDeadline, runtime.Detail{Deadline: max(left, 0)}, fmt.Sprintf(
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
	return c.refuse(runtime.ReasonBlockedAfterTimeout, runtime.Detail{}, fmt.Sprintf(
		"%q timed out in this turn and is not retryable: it may be called again in the next turn", c.record.tool))
}
