package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
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

// An interrupted is a call, or an undo, that had no result when the former owner of the journal stopped.
type interrupted struct {
	c     *call
	of    *history.Call
	parts *undecidedParts
	left  []*transaction.Participant // with parts of it
}

// settle settles the call. stale says that the former owner had written nothing for longer than DefaultStale.
func (i interrupted) settle(ctx context.Context, stale bool) {
	c := i.c
	command := c.tool != nil && c.tool.Spec.Command != nil
	fate := callFateOf(fateFacts{
		Approved: c.progress.Life.AwaitsConsent(), Admitted: c.needsReadmission, State: c.progress.State(), Decided: i.of.Sealed != nil,
	})
	switch fate {
	case fateApproved:
		c.submitApproved()
		return
	case fateReadmitted:
		i.resubmit()
		return
	case fateNotStarted:
		c.finish(interruption(outcomes.NotStarted(outcomes.Ran(command))))
		return
	}
	i.orphan(stale)
	settled := i.parts.Settle(ctx, c.key(), i.left, fate == fateCommitted) && !i.parts.Moved(c.key(), i.of.Places)
	e := interruption(recoveredOutcome(fate, i.of, command, len(i.left) > 0, settled))
	if fate == fateInterrupted && settled && !i.of.Runs && c.mayRerun() {
		c.interruption = e
		c.beginRerun()
		return
	}
	c.finish(e)
}

// interruption returns the result of a call that a restart has interrupted.
func interruption(out runtime.Outcome) *result {
	r := aborted(out)
	r.cause = lifecycle.ByRecovery
	switch out.Kind {
	case runtime.Unknown:
		r.event, r.to = runtime.EventUnknown, runtime.StateExecuting
	case runtime.Completed: // its commit was decided
		r.event, r.to = runtime.EventCompleted, runtime.StateCompleted
	}
	return r
}

// orphan records that the process that ran the handler is gone, and the end of each command that recovery has ended.
func (i interrupted) orphan(stale bool) {
	c := i.c
	ends := c.exec.processes.Ends(i.of)
	for n := range max(1, len(ends)) {
		if n < len(ends) {
			c.processEnded(ends[n].Process, ends[n].Exit)
			c.progress.Scope.Context().ProcessEnded(ends[n].Process, nil)
		}
		c.progress.Lock()
		now := c.exec.sched.Now()
		if stale && n == 0 {
			c.transition(runtime.EventStale, runtime.StateExecuting, &note{At: now})
		}
		c.transition(runtime.EventOrphaned, runtime.StateExecuting, &note{At: now})
		c.progress.Unlock()
	}
}

// recordEnds records the ends of processes whose call has an outcome.
func (i interrupted) recordEnds() {
	c := i.c
	kind, state := runtime.EventLateResult, c.progress.State()
	if state == runtime.StateExecuting { // the call is unknown
		kind = runtime.EventOrphaned
	}
	for _, e := range c.exec.processes.Ends(i.of) {
		c.processEnded(e.Process, e.Exit)
		if !kind.Legal(state, state) {
			c.addProcess(journal.KindProcessEnded, e.Process)
			continue
		}
		c.progress.Scope.Context().ProcessEnded(e.Process, nil)
		c.progress.Lock()
		c.transition(kind, state, &note{At: c.exec.sched.Now()})
		c.progress.Unlock()
	}
}

// resubmit passes a call that was admitted, and whose handler was not started, to a worker. The
// worker evaluates it like a new call. The call keeps its reservation until then.
func (i interrupted) resubmit() {
	c := i.c
	c.progress.Lock()
	c.progress.Life.Prepare(c.progress.TurnEnds())
	c.place.Reenter()
	c.progress.Unlock()
	c.progress.Resubmit()
	trace(c)
	c.submit()
}

// mayRerun reports whether the handler may be run again. The budget of the turn, which bounds
// all attempts of the call together, must allow it too.
func (c *call) mayRerun() bool {
	return c.tool.MayRerun(c.progress.Life.Attempt()) && c.values.Final != nil && c.progress.HasBudget(c.turn.minimum)
}

// beginRerun passes the call to a worker, which evaluates the policy again and runs the handler again.
// The call keeps its reservation.
func (c *call) beginRerun() {
	if c.place.EnterGates(&c.run.node.Workers) != capacity.None {
		c.finish(c.interruption)
		return
	}
	c.place.Reenter()
	c.progress.Resubmit()
	trace(c)
	c.progress.Life.Rerun()
	c.submit()
}

// evaluateRerun evaluates the present policy for a call whose handler an earlier process
// started. The call stays unknown if the policy does not allow it, or asks for consent. Like those
// of decide, the facts of the evaluation still hold when the call runs again (SEMANTICS section 3.5).
func (c *call) evaluateRerun() *result {
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
		j := &c.worker.evaluation
		adm := c.admitRerun(j.Reason == runtime.ReasonNone && !j.Asks && tools.Equal(c.values.Final, c.values.Args))
		switch {
		case adm.again && !c.waitFor(adm.wait):
			return workerDone
		case adm.again:
			continue
		case adm.ends == nil && c.progress.Life.Reevaluating(): // it has to wait for a slot
			return c.awaitRerunSlot()
		}
		return adm.ends
	}
}

// admitRerun lets the handler of a call run again, or wait for a slot of its tool, if the policy
// allows it and the facts that the policy saw still hold.
func (c *call) admitRerun(allowed bool) admission {
	c.progress.Lock()
	defer c.progress.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.progress.Life.Ended():
		return notAdmitted(workerDone)
	case s.admitting != c && (s.admitting != nil || !c.worker.view.Unchanged(c.run.currentFacts)):
		return admission{again: true, wait: s.admittingDone}
	}
	s.endExclusion(c)
	if !allowed {
		// restoreInterruption completes this result
		return notAdmitted(&result{outcome: runtime.Outcome{Message: "the policy does not let it run as it was"}})
	}
	c.place.RequestSlot(func() {})
	if c.place.Granted() != nil || c.turn.blocked.Has(c.tool.Index) {
		return admission{}
	}
	return admission{ends: c.startRerun(true)}
}

// awaitRerunSlot waits for a slot before the handler of a call runs again.
func (c *call) awaitRerunSlot() *result {
	if r := c.awaitTurn(); r != nil {
		return r
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	return c.startRerun(false)
}

// startRerun records that the handler of a call runs again. The lock of the call is held.
func (c *call) startRerun(session bool) *result {
	if !c.progress.Life.Reevaluated() {
		return workerDone
	}
	c.transition(runtime.EventRetrying, runtime.StateExecuting, &note{At: c.clock(), Session: session})
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
	return s.callOf(s.memory.Node(r.Run), r, rec)
}

// settleUndo settles an undo that the former owner of the journal had begun. It commits
// the undo when that was decided. Otherwise it rolls back what the undo did through participants,
// and the undo can be tried again.
func (i interrupted) settleUndo(ctx context.Context) {
	c, s, of := i.c, i.c.run.session, i.of.Undo
	u := undoing{c, of.By}
	key := runtime.CallKey{Session: s.id, Call: c.id, Undo: true}
	settled := i.parts.Settle(ctx, key, i.left, of.Sealed != nil) && !i.parts.Moved(key, of.Places)
	done, fault := recoveredUndo(of, settled)
	if fault != nil {
		u.recordFailed(fault)
		return
	}
	if !done {
		_ = s.place.Enter() // for as long as this process lasts
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !done { // the next recovery tries again; until then no other undo may begin
		c.record.Undo.Busy = true
		return
	}
	now := c.exec.sched.Now()
	if ev := of.Undoes; ev != nil {
		s.memory.Apply(s.exec.instant(now), ev)
	}
	u.done(now)
}
