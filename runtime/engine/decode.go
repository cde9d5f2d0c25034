package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// emitInvoked begins the life cycle of the call, unless a goroutine that ends the call has done so.
func (c *call) emitInvoked() {
	c.progress.Lock()
	defer c.progress.Unlock()
	c.emitFirst()
}

// emitFirst is emitInvoked for a caller that holds the lock of the call.
func (c *call) emitFirst() {
	if !c.progress.Invoked() {
		c.unrecorded = c.exec.log.On() && c.exec.log.Stalled()
		c.transition(runtime.EventInvoked, runtime.StateDeclared, &note{At: c.now})
	}
}

// lookup checks that the tool of the call exists.
func (c *ident) lookup() *result {
	if c.tool != nil {
		return nil
	}
	r := denied(outcomes.UnknownTool(c.record.Tool, c.exec.reg.Names()))
	r.to = runtime.StateFailed
	return r
}

// checkGates counts the call in the executor and the run, and checks that the journal can be
// written, that the context is not done, and that the turn has the minimum budget left.
func (c *call) checkGates() *result {
	switch c.place.EnterGates(&c.run.node.Workers) {
	case capacity.Executor:
		return denied(outcomes.ShuttingDown())
	case capacity.Run:
		return denied(outcomes.RunFinished())
	}
	err := c.exec.log.Health()
	if err == nil && c.unrecorded {
		err = commitlog.ErrStalled // the commit log was stalled when the call was made
	}
	if err != nil {
		return c.journalUnavailable(err)
	}
	if c.ctx.Err() != nil {
		return aborted(outcomes.Cancelled())
	}
	if left, bounded := deadline.Left(c.turn.budgetEnds, c.now); bounded && left < max(c.turn.minimum, 1) {
		return denied(outcomes.BudgetLeft(left, c.turn.minimum))
	}
	if !c.turn.blocked.Has(c.tool.Index) {
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
	if !c.tryFillRulesCall(&rc, c.values.Args) {
		return nil
	}
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	v := c.checkRules(&rc)
	if s.unsettled(&v) == nil && !v.Admitted() && v.Primary().Reason < rules.ReasonStartConstraint { // a duplicate has no reason
		return c.denialBy(v, &rc, &evaluation{})
	}
	return nil
}

// decode decodes and checks the input, strictly and once.
func (c *call) decode() *result {
	if c.record.Digest {
		return invalidInputResult(c.tool.TooLarge(c.size), nil)
	}
	in, violations, panicked := c.tool.Read(c.record.Input)
	switch {
	case panicked != nil:
		return invalidInputResult(nil, c.panicFault(panicked))
	case violations != nil:
		return invalidInputResult(violations, nil)
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	if c.progress.Life.Ended() {
		return workerDone
	}
	c.values.Args, c.values.Text, c.heartbeat = in.Args, in.Text, in.Heartbeat
	c.transition(runtime.EventValidated, runtime.StateValidated, &note{At: c.now})
	return nil
}

// invalidInputResult returns the result of a call whose input is invalid, or could not be read.
func invalidInputResult(violations []wire.Violation, fault *action.CallError) *result {
	r := denied(outcomes.InvalidInput(violations))
	r.to, r.fault = runtime.StateFailed, fault
	return r
}
