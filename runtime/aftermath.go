package runtime

import (
	"context"
	"errors"
	"fmt"
)

// The aftermath of a process that died is what its calls have left: at
// participants, and in the world. What can be taken back is, what was decided is
// done, what may be done again is, and the rest is unknown (SEMANTICS section 6).

// leftovers returns, per call, the participants at which something of it is left.
func (e *Executor) leftovers(ctx context.Context) (map[CallKey][]*participant, error) {
	left := map[CallKey][]*participant{}
	for i := range e.participants {
		p := &e.participants[i]
		keys, err := p.Unsettled(ctx)
		if err != nil {
			return nil, fmt.Errorf("participant %q: %w", p.name, err)
		}
		for _, k := range keys {
			left[k] = append(left[k], p)
		}
	}
	return left, nil
}

// settle commits or rolls back what is left of a call, and reports whether
// nothing is left any more.
func (e *Executor) settle(ctx context.Context, key CallKey, at []*participant, commit bool) bool {
	ok := true
	for _, p := range at {
		err := guard(func() error { return p.Settle(ctx, key, commit) })
		if err != nil {
			ok = false
			e.report(&CallError{CallID: key.Call, SessionID: key.Session, Reason: ReasonCommitFailed, Err: fmt.Errorf(
				"participant %q: what is left of the call cannot be settled: %w", p.name, err)})
		}
	}
	return ok
}

// settleInterrupted decides what becomes of a call that had no outcome when the
// last owner of the journal stopped. That one is stale when it had written nothing
// for long.
func (c *call) settleInterrupted(ctx context.Context, r *recalled, left []*participant, stale bool) {
	switch {
	case c.phase == phaseWaiting:
		c.rework()
		return
	case c.state != StateExecuting:
		c.end(ending{event: EventAborted, to: StateAborted, outcome: Outcome{
			Kind: Failed, Reason: ReasonInterrupted, Message: "the executor stopped before the handler was started: nothing was done",
		}})
		return
	}
	c.orphan(stale)
	switch decided := r.sealed != nil; {
	case decided:
		c.carryOut(ctx, r, left)
	case len(left) > 0 && !c.exec.settle(ctx, c.key(), left, false):
		c.end(*interrupted("what it did could not be taken back"))
	case c.mayRunAgain():
		c.runAgain()
	case len(left) > 0:
		c.end(ending{event: EventAborted, to: StateAborted, outcome: Outcome{
			Kind: Failed, Reason: ReasonInterrupted, RolledBack: true,
			Message: "the executor stopped while the handler ran: what it did was taken back",
		}})
	default:
		c.end(*interrupted("the call may have taken effect"))
	}
}

// interrupted is the ending of a call of which it is not known what it did.
func interrupted(why string) *ending {
	return &ending{event: EventUnknown, to: StateExecuting, outcome: Outcome{
		Kind: Unknown, Reason: ReasonInterrupted, Message: "the executor stopped while the handler ran: " + why,
	}}
}

// orphan notes that the process that ran the handler is gone.
func (c *call) orphan(stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.exec.now()
	if stale {
		c.transition(EventStale, StateExecuting, &note{at: now})
	}
	c.transition(EventOrphaned, StateExecuting, &note{at: now})
}

// carryOut finishes a commit that was decided, unless a foreign transaction is
// part of it.
func (c *call) carryOut(ctx context.Context, r *recalled, left []*participant) {
	for _, s := range r.sealed {
		if s.Foreign {
			c.exec.settle(ctx, c.key(), left, true)
			c.end(*interrupted(fmt.Sprintf("it is not known whether participant %q has committed", s.Participant)))
			return
		}
	}
	if !c.exec.settle(ctx, c.key(), left, true) {
		c.end(*interrupted("what it did could not be committed"))
		return
	}
	c.end(ending{event: EventCompleted, to: StateCompleted, outcome: *r.decided})
}

// mayRunAgain reports whether the handler may be run once more: also by the budget
// of its turn, which bounds the call with all attempts.
func (c *call) mayRunAgain() bool {
	spec := c.tool
	return spec != nil && spec.spec.Idempotent && spec.spec.Retry != nil && c.attempt <= spec.spec.Retry.Max && c.final != nil && c.affords(0)
}

// runAgain gives the call to a worker, who has it judged by the policy once more
// and runs its handler again. It holds what it has reserved.
func (c *call) runAgain() {
	if !c.exec.gate.enter() {
		c.end(*interrupted("the call may have taken effect"))
		return
	}
	if !c.run.part.workers.enter() {
		c.exec.gate.leave()
		c.end(*interrupted("the call may have taken effect, and its run is closed"))
		return
	}
	c.entered, c.rejudging = true, true
	c.left.Store(false)
	c.phase = phasePreparing
	c.exec.crew.take(c)
}

// judgeAgain has a call whose handler was started by another process judged by
// the policy as it is now. One that it would not let run, or not without asking,
// is left as it is: unknown.
func (c *call) judgeAgain() bool {
	if !c.snapshot() {
		return c.end(*cancellation(ReasonRunClosed))
	}
	c.args, c.text = c.final, c.finalText
	if !c.judge() {
		return false
	}
	j := &c.worker.judge
	if j.reason != ReasonNone || j.asks || !same(c.final, c.args) {
		return c.end(*interrupted("the policy does not let it run again as it was"))
	}
	c.line()
	if !c.queue() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	c.rejudging = false
	c.transition(EventRetrying, StateExecuting, &note{at: c.clock()})
	return true
}

// stillUnknown makes of any ending of a call that is judged once more one that
// says what was known before: that it is unknown what it did.
func (e *ending) stillUnknown() {
	why := e.outcome.Message
	*e = *interrupted("it was not run again (" + why + ") and may have taken effect")
}

var errUnsettled = errors.New("something is left of calls that nothing is known of")

// settleStrangers rolls back what is left of calls that the journal does not know:
// their start was never recorded, so nothing of them was answered.
func (e *Executor) settleStrangers(ctx context.Context, left map[CallKey][]*participant) error {
	ok := true
	for key, at := range left {
		ok = e.settle(ctx, key, at, false) && ok
	}
	if !ok {
		return errUnsettled
	}
	return nil
}
