package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Recovery settles what the calls of a former process have left, at participants and elsewhere. It
// rolls back what can be rolled back, finishes decided commits, and runs again what may run again.
// The other calls are unknown (SEMANTICS section 6.7).

// settleParts commits or rolls back the remaining parts of a call. It reports whether all succeeded.
func (e *Executor) settleParts(ctx context.Context, key runtime.CallKey, at []*transaction.Participant, commit bool) bool {
	return transaction.Settle(ctx, key, at, commit, func(err error) {
		e.report(&CallError{CallID: key.Call, SessionID: key.Session, Reason: runtime.ReasonCommitFailed, Err: err})
	})
}

// settleInterrupted settles a call that had no outcome when the former owner of the journal
// stopped. stale says that this owner had written nothing for longer than DefaultStale.
func (c *call) settleInterrupted(ctx context.Context, r *history.Call, left []*transaction.Participant, stale bool) {
	switch {
	case c.life.AwaitsConsent():
		c.submitApproved()
		return
	case c.needsReadmission:
		c.resubmit()
		return
	case c.state != runtime.StateExecuting:
		c.finish(&result{cause: lifecycle.ByRecovery, event: runtime.EventAborted, to: runtime.StateAborted, outcome: runtime.Outcome{
			Kind: runtime.Failed, Reason: runtime.ReasonInterrupted, Message: "the executor stopped before the handler was started: nothing was done",
		}})
		return
	}
	c.orphan(stale)
	if r.Sealed != nil {
		c.finishCommit(ctx, r, left)
		return
	}
	e := interruptedResult(r.Effects, len(left) > 0)
	switch {
	case len(left) > 0 && !c.exec.settleParts(ctx, c.key(), left, false):
		if r.Effects != journal.EffectsNone {
			e = unknownInterrupted("what it did could not be taken back")
		}
		c.finish(e)
	case rerun{c}.allowed():
		c.interruption = e
		rerun{c}.begin()
	default:
		c.finish(e)
	}
}

// interruptedResult returns the result of a call whose handler was running, with no commit decided
// (SEMANTICS section 6.7). The call failed if it has no lasting effect, as its declaration said
// when it started or as its participants say. Otherwise it is unknown.
func interruptedResult(effects string, atParticipants bool) *result {
	failed := runtime.Outcome{Kind: runtime.Failed, Reason: runtime.ReasonInterrupted}
	switch {
	case effects == journal.EffectsNone:
		failed.Message = "the executor stopped while the handler ran, which only reads: nothing was changed"
	case effects == journal.EffectsInParts || atParticipants:
		failed.Message, failed.RolledBack = "the executor stopped while the handler ran: what it did was taken back", true
	default:
		return unknownInterrupted("the call may have taken effect")
	}
	return &result{cause: lifecycle.ByRecovery, event: runtime.EventAborted, to: runtime.StateAborted, outcome: failed}
}

// unknownInterrupted returns the result of a call whose effects are not known.
func unknownInterrupted(why string) *result {
	return &result{cause: lifecycle.ByRecovery, event: runtime.EventUnknown, to: runtime.StateExecuting, outcome: runtime.Outcome{
		Kind: runtime.Unknown, Reason: runtime.ReasonInterrupted, Message: "the executor stopped while the handler ran: " + why,
	}}
}

// orphan records that the process that ran the handler is gone.
func (c *call) orphan(stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.exec.sched.Now()
	if stale {
		c.transition(runtime.EventStale, runtime.StateExecuting, &note{at: now})
	}
	c.transition(runtime.EventOrphaned, runtime.StateExecuting, &note{at: now})
}

// finishCommit finishes a commit that was decided. If a foreign transaction is part of it and the
// handler may have changed something there, the call is unknown instead.
func (c *call) finishCommit(ctx context.Context, r *history.Call, left []*transaction.Participant) {
	reads := r.Effects == journal.EffectsNone
	for _, s := range r.Sealed {
		if s.Foreign && !reads {
			c.exec.settleParts(ctx, c.key(), left, true)
			c.finish(unknownInterrupted(fmt.Sprintf("it is not known whether participant %q has committed", s.Participant)))
			return
		}
	}
	if !c.exec.settleParts(ctx, c.key(), left, true) && !reads {
		c.finish(unknownInterrupted("what it did could not be committed"))
		return
	}
	c.finish(&result{cause: lifecycle.ByRecovery, event: runtime.EventCompleted, to: runtime.StateCompleted, outcome: *r.Decided})
}

// resubmit passes a call that was admitted, and whose handler was not started, to a worker. The
// worker evaluates it like a new call. The call keeps its reservation until then.
func (c *call) resubmit() {
	c.mu.Lock()
	c.life.Prepare(c.budgetEnds())
	c.reenterExecutor()
	c.mu.Unlock()
	c.handlerDone.Store(false)
	trace(c)
	c.exec.workers.Take(c)
}

var errUnsettled = errors.New("something is left of calls that nothing is known of")

// settleUnknownCalls rolls back the remaining parts of calls that are not in the journal. Their
// start was never recorded, so no caller got an outcome.
func (e *Executor) settleUnknownCalls(ctx context.Context, left map[runtime.CallKey][]*transaction.Participant) error {
	ok := true
	for key, at := range left {
		ok = e.settleParts(ctx, key, at, false) && ok
	}
	if !ok {
		return errUnsettled
	}
	return nil
}
