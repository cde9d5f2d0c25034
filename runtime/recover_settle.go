package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// The aftermath of a process that died is what its calls have left: at
// participants, and in the world. What can be taken back is, what was decided is
// done, what may be done again is, and the rest is unknown (SEMANTICS section 6.7).

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
func (c *call) settleInterrupted(ctx context.Context, r *foldedCall, left []*participant, stale bool) {
	switch {
	case c.phase == phaseWaiting:
		c.rework()
		return
	case c.readmits:
		c.evaluateAnew()
		return
	case c.state != StateExecuting:
		c.end(result{event: EventAborted, to: StateAborted, outcome: Outcome{
			Kind: Failed, Reason: ReasonInterrupted, Message: "the executor stopped before the handler was started: nothing was done",
		}})
		return
	}
	c.orphan(stale)
	if r.sealed != nil {
		c.finishCommit(ctx, r, left)
		return
	}
	e := interruption(r.effects, len(left) > 0)
	switch {
	case len(left) > 0 && !c.exec.settle(ctx, c.key(), left, false):
		if r.effects != journal.EffectsNone {
			e = interrupted("what it did could not be taken back")
		}
		c.end(*e)
	case c.mayRunAgain():
		c.interruption = e
		c.runAgain()
	default:
		c.end(*e)
	}
}

// interruption is how a call ends whose handler was running, with no commit decided
// (SEMANTICS section 6.7): failed when nothing of it is left, which is what its
// declaration said when it started or its participants say, else unknown.
func interruption(effects string, atParticipants bool) *result {
	failed := Outcome{Kind: Failed, Reason: ReasonInterrupted}
	switch {
	case effects == journal.EffectsNone:
		failed.Message = "the executor stopped while the handler ran, which only reads: nothing was changed"
	case effects == journal.EffectsInParts || atParticipants:
		failed.Message, failed.RolledBack = "the executor stopped while the handler ran: what it did was taken back", true
	default:
		return interrupted("the call may have taken effect")
	}
	return &result{event: EventAborted, to: StateAborted, outcome: failed}
}

// interrupted is the ending of a call of which it is not known what it did.
func interrupted(why string) *result {
	return &result{event: EventUnknown, to: StateExecuting, outcome: Outcome{
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

// finishCommit finishes a commit that was decided, unless a foreign transaction is
// part of it and the handler may have changed something there.
func (c *call) finishCommit(ctx context.Context, r *foldedCall, left []*participant) {
	reads := r.effects == journal.EffectsNone
	for _, s := range r.sealed {
		if s.Foreign && !reads {
			c.exec.settle(ctx, c.key(), left, true)
			c.end(*interrupted(fmt.Sprintf("it is not known whether participant %q has committed", s.Participant)))
			return
		}
	}
	if !c.exec.settle(ctx, c.key(), left, true) && !reads {
		c.end(*interrupted("what it did could not be committed"))
		return
	}
	c.end(result{event: EventCompleted, to: StateCompleted, outcome: *r.decided})
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
		c.end(*c.interruption)
		return
	}
	if !c.run.part.workers.enter() {
		c.exec.gate.leave()
		c.end(*c.interruption)
		return
	}
	c.entered, c.rejudging = true, true
	c.reenterExecutor()
	c.left.Store(false)
	c.phase = phasePreparing
	c.exec.workers.take(c)
}

// evaluateAgain has a call whose handler was started by another process judged by
// the policy as it is now. One that it would not let run, or not without asking,
// is left as it is: unknown.
func (c *call) evaluateAgain() bool {
	if !c.snapshot() {
		return c.end(*cancellation(ReasonRunClosed))
	}
	c.args, c.text = c.final, c.finalText
	if !c.evaluatePolicy() {
		return false
	}
	j := &c.worker.evaluation
	if j.reason != ReasonNone || j.asks || !same(c.final, c.args) {
		return c.end(result{outcome: Outcome{Message: "the policy does not let it run as it was"}}) // of which notRunAgain makes the ending
	}
	c.requestSlot()
	if !c.awaitSlot() {
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

// notRunAgain makes of any ending of a call that is judged once more the one that
// it would have had otherwise.
func (e *result) notRunAgain(c *call) {
	why := e.outcome.Message
	*e = *c.interruption
	e.outcome.Message += "; it was not run again: " + why
}

// evaluateAnew gives a call that was admitted, and whose handler was not started, to a
// worker, who judges it as it judges a new one. It holds its reservation until then.
func (c *call) evaluateAnew() {
	c.mu.Lock()
	c.phase, c.due, c.fence.closed = phasePreparing, c.ends(), false
	c.reenterExecutor()
	c.mu.Unlock()
	c.left.Store(false)
	c.exec.workers.take(c)
}

var errUnsettled = errors.New("something is left of calls that nothing is known of")

// settleUnknownCalls rolls back what is left of calls that the journal does not know:
// their start was never recorded, so nothing of them was answered.
func (e *Executor) settleUnknownCalls(ctx context.Context, left map[CallKey][]*participant) error {
	ok := true
	for key, at := range left {
		ok = e.settle(ctx, key, at, false) && ok
	}
	if !ok {
		return errUnsettled
	}
	return nil
}
