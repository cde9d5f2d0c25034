package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// decode decodes and checks the input, strictly and once.
func (c *call) decode() *result {
	in, violations, fault := c.readInput()
	if violations != nil || fault != nil {
		return invalidInputResult(violations, fault)
	}
	return c.recordValidated(&in)
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

// A decodedInput holds the decoded input of a call.
type decodedInput struct {
	args      wire.Value
	text      []byte // of args
	heartbeat bool
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
