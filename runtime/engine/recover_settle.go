package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Recovery settles what the calls of a former process have left, at participants and elsewhere. It
// rolls back what can be rolled back, finishes decided commits, and runs again what may run again.
// The other calls are unknown (SEMANTICS section 6.7).

// settleParts commits or rolls back the remaining parts of a call. It reports whether all succeeded.
func (e *Executor) settleParts(ctx context.Context, key runtime.CallKey, at []*transaction.Participant, commit bool) bool {
	return transaction.Settle(ctx, key, at, commit, func(err error) {
		e.report(&action.CallError{CallID: key.Call, SessionID: key.Session, Reason: runtime.ReasonCommitFailed, Err: err})
	})
}

// An interrupted is a call, or an undo, that had no result when the former owner of the journal stopped.
type interrupted struct {
	c    *call
	of   *history.Call
	left []*transaction.Participant // with parts of it
}

// settle settles the call. stale says that the former owner had written nothing for longer than DefaultStale.
func (i interrupted) settle(ctx context.Context, stale bool) {
	c, r, left := i.c, i.of, i.left
	switch {
	case c.progress.Life.AwaitsConsent():
		c.submitApproved()
		return
	case c.needsReadmission:
		i.resubmit()
		return
	case c.progress.State() != runtime.StateExecuting:
		c.finish(interruption(outcomes.NotStarted()))
		return
	}
	i.orphan(stale)
	if r.Sealed != nil {
		i.finishCommit(ctx)
		return
	}
	e := interruption(outcomes.Interrupted(r.Effects, len(left) > 0))
	switch {
	case len(left) > 0 && !c.exec.settleParts(ctx, c.key(), left, false):
		if r.Effects != journal.EffectsNone {
			e = interruption(outcomes.EffectUnknown("what it did could not be taken back"))
		}
		c.finish(e)
	case rerun{c}.allowed():
		c.interruption = e
		rerun{c}.begin()
	default:
		c.finish(e)
	}
}

// interruption returns the result of a call that a restart has interrupted.
func interruption(out runtime.Outcome) *result {
	r := aborted(out)
	r.cause = lifecycle.ByRecovery
	if out.Kind == runtime.Unknown {
		r.event, r.to = runtime.EventUnknown, runtime.StateExecuting
	}
	return r
}

// orphan records that the process that ran the handler is gone.
func (i interrupted) orphan(stale bool) {
	c := i.c
	c.progress.Lock()
	defer c.progress.Unlock()
	now := c.exec.sched.Now()
	if stale {
		c.transition(runtime.EventStale, runtime.StateExecuting, &note{at: now})
	}
	c.transition(runtime.EventOrphaned, runtime.StateExecuting, &note{at: now})
}

// finishCommit finishes a commit that was decided. If a foreign transaction is part of it and the
// handler may have changed something there, the call is unknown instead.
func (i interrupted) finishCommit(ctx context.Context) {
	c, r, left := i.c, i.of, i.left
	reads := r.Effects == journal.EffectsNone
	for _, s := range r.Sealed {
		if s.Foreign && !reads {
			c.exec.settleParts(ctx, c.key(), left, true)
			c.finish(interruption(outcomes.EffectUnknown(fmt.Sprintf("it is not known whether participant %q has committed", s.Participant))))
			return
		}
	}
	if !c.exec.settleParts(ctx, c.key(), left, true) && !reads {
		c.finish(interruption(outcomes.EffectUnknown("what it did could not be committed")))
		return
	}
	c.finish(&result{cause: lifecycle.ByRecovery, event: runtime.EventCompleted, to: runtime.StateCompleted, outcome: *r.Decided})
}

// resubmit passes a call that was admitted, and whose handler was not started, to a worker. The
// worker evaluates it like a new call. The call keeps its reservation until then.
func (i interrupted) resubmit() {
	c := i.c
	c.progress.Lock()
	c.progress.Life.Prepare(c.progress.TurnEnds())
	c.reenterExecutor()
	c.progress.Unlock()
	c.progress.Resubmit()
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

// A rerun is a call whose handler an earlier process had started, and which recovery runs again.
type rerun struct{ *call }

// allowed reports whether the handler may be run again. The budget of the turn, which bounds
// all attempts of the call together, must allow it too.
func (c rerun) allowed() bool {
	return c.tool.MayRerun(c.progress.Life.Attempt()) && c.values.Final != nil && c.progress.HasBudget(c.turn.minimum)
}

// begin passes the call to a worker, which evaluates the policy again and runs the handler again.
// The call keeps its reservation.
func (c rerun) begin() {
	if !c.exec.gate.Enter() {
		c.finish(c.interruption)
		return
	}
	if !c.run.node.Workers.Enter() {
		c.exec.gate.Leave()
		c.finish(c.interruption)
		return
	}
	c.inGates = true
	c.reenterExecutor()
	c.progress.Resubmit()
	trace(c.call)
	c.progress.Life.Rerun()
	c.exec.workers.Take(c.call)
}

// evaluate evaluates the present policy for a call whose handler an earlier process
// started. The call stays unknown if the policy does not allow it, or asks for consent. Like those
// of decide, the facts of the evaluation still hold when the call runs again (SEMANTICS section 3.5).
func (c rerun) evaluate() *result {
	c.values.Args, c.values.Text = c.values.Final, c.values.FinalText
	for try := 1; ; try++ {
		if try == maxTries && !c.excludeOtherCalls() {
			return workerDone
		}
		if !c.snapshot() {
			return aborted(outcomes.RunClosed())
		}
		if !c.evaluatePolicy() {
			return workerDone
		}
		j := &c.worker.Scratch.evaluation
		adm := c.admitAgain(j.Reason == runtime.ReasonNone && !j.Asks && tools.Equal(c.values.Final, c.values.Args))
		switch {
		case adm.again && !c.waitFor(adm.wait):
			return workerDone
		case adm.again:
			continue
		case adm.ends == nil && c.progress.Life.Reevaluating(): // it has to wait for a slot
			return c.awaitSlot()
		}
		return adm.ends
	}
}

// admitAgain lets the handler of a call run again, or wait for a slot of its tool, if the policy
// allows it and the facts that the policy saw still hold.
func (c rerun) admitAgain(allowed bool) admission {
	c.progress.Lock()
	defer c.progress.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.progress.Life.Ended():
		return notAdmitted(workerDone)
	case s.admitting != c.call && (s.admitting != nil || !c.worker.Scratch.view.Unchanged(c.run.currentFacts)):
		return admission{again: true, wait: s.admittingDone}
	}
	s.endExclusion(c.call)
	if !allowed {
		// restoreInterruption completes this result
		return notAdmitted(&result{outcome: runtime.Outcome{Message: "the policy does not let it run as it was"}})
	}
	c.requestSlot(func() {})
	if c.slotGranted != nil || c.turn.blocks(c.tool.Index) {
		return admission{}
	}
	return admission{ends: c.startAgain(true)}
}

// awaitSlot waits for a slot before the handler of a call runs again.
func (c rerun) awaitSlot() *result {
	if r := c.awaitTurn(); r != nil {
		return r
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	return c.startAgain(false)
}

// startAgain records that the handler of a call runs again. The lock of the call is held.
func (c rerun) startAgain(session bool) *result {
	if !c.progress.Life.Reevaluated() {
		return workerDone
	}
	c.transition(runtime.EventRetrying, runtime.StateExecuting, &note{at: c.clock(), session: session})
	return nil
}

// undoneCall returns the call of an undo that was interrupted. The call itself has ended.
func (e *Executor) undoneCall(r *history.Call) *call {
	s := e.sessionOf(r.Session)
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := s.memory.Find(r.ID)
	if rec.Live != nil {
		return rec.Live
	}
	return e.callOf(s, r, rec)
}

// settleUndo settles an undo that the former owner of the journal had begun. It commits
// the undo when that was decided. Otherwise it rolls back what the undo did through participants,
// and the undo can be tried again.
func (i interrupted) settleUndo(ctx context.Context) {
	c, s, of, left := i.c, i.c.run.session, i.of.Undo, i.left
	u := undoing{c, of.By}
	key := runtime.CallKey{Session: s.id, Call: c.id, Undo: true}
	fault := &undoFault{why: action.CodeInterrupted}
	if of.Sealed == nil {
		fault.err = errors.New("the executor stopped while the undo handler ran: it may have taken effect outside of participants")
		fault.notRolledBack = !c.exec.settleParts(ctx, key, left, false)
		u.recordFailed(fault)
		return
	}
	settled := c.exec.settleParts(ctx, key, left, true)
	for _, seal := range of.Sealed {
		if seal.Foreign {
			fault.why, fault.err = action.CodeUnknown, fmt.Errorf("it is not known whether participant %q has committed", seal.Participant)
			u.recordFailed(fault)
			return
		}
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !settled { // the next recovery tries again; until then no other undo may begin
		c.record.Undo.Busy = true
		return
	}
	now := c.exec.sched.Now()
	if ev := of.Undoes; ev != nil {
		s.memory.Apply(s.exec.instant(now), ev)
	}
	u.done(now)
}
