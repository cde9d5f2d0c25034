package engine

import (
	"cmp"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// observe tells the observers how the call ended, and waits for them until done is closed. When
// done is nil it waits until they have returned.
func (c *call) observe(done <-chan struct{}) {
	if len(c.exec.delivery.Observers) > 0 || c.record.Obliges() {
		c.exec.delivery.Observe(runtime.CallInfoOf(c.progress.Scope.Info()), c.record.Outcome(), redact.Obligation, done)
	}
}

// finish gives the call its outcome and reports whether the call had none before: of several
// goroutines the first wins. When finish returns true no new effect under the fence can start. The
// effects that had started have ended, or their grace is over. With workerDone it does nothing.
func (c *call) finish(e *result) (first bool) {
	if e == workerDone {
		return false
	}
	var over *sched.Event
	defer func() { // also when the code below panics or calls runtime.Goexit
		if over != nil {
			c.exec.sched.Fire(over)
			if c.entered {
				c.run.session.place.Leave()
			}
		}
	}()
	e.setText(c)
	unattended := c.conclude(e, &over)
	if over == nil {
		return false
	}
	c.run.session.past.Repeat(&e.outcome, c.record)
	c.flushOutcome()
	endSpan(c)
	e.report(c)
	c.endMoot(&e.outcome)
	if unattended {
		c.observe(sched.PastDone) // no caller waits
	}
	return true
}

// setText sets the text for operators in the event of e. The caller holds no lock: it may run code of the tool.
func (e *result) setText(c *call) {
	if !e.textSet {
		e.text, e.textSet = c.operatorText(&e.outcome, e.fault), true
	}
}

// conclude is the part of finish that holds the call's lock. If e becomes the result of the call, it sets over to the event
// that the caller must fire. It reports whether the caller must notify the observers.
func (c *call) conclude(e *result, over **sched.Event) (unattended bool) {
	c.progress.Lock()
	defer c.progress.Unlock()
	c.emitFirst() // its session has the call a moment before
	if !c.progress.Life.TryEnd(cmp.Or(e.cause, lifecycle.ByWorker), e.moment, c.clock()) {
		return false
	}
	if c.progress.Life.Reevaluating() {
		e.restoreInterruption(c)
	}
	if c.progress.Life.Lingers() {
		c.exec.lingering.Add(1)
	}
	*over = c.done()
	started := c.progress.Life.Attempt() > 0
	c.progress.CancelContexts(e.outcome.Kind)
	out := &e.outcome
	c.dryVerdict = e.verdict
	if drained := c.progress.Scope.ShutFence(); drained != nil {
		c.progress.Unlock()
		out.Detail.Writing = !c.progress.Scope.Drain(drained)
		c.progress.Lock()
	}
	if c.ownsParts(out) {
		c.progress.Unlock()
		if out.RolledBack = c.progress.Scope.Rollback(c.ctx) && !out.Detail.Writing; !out.RolledBack {
			e.text = strings.TrimPrefix(e.text+"; what the call did was not taken back", "; ")
		}
		c.progress.Lock()
	}
	c.closeOutcome(out, e, started)
	return c.progress.Life.Unattended()
}

// ownsParts reports whether the call rolls back what its handler did at participants. It does not
// when it was decided to commit, or when the next owner of the journal settles the call. The lock of
// the call is held.
func (c *call) ownsParts(out *runtime.Outcome) bool {
	return len(c.exec.participants) > 0 && c.progress.Scope.HasParts() && out.Kind != runtime.Completed && out.Kind != runtime.Unknown && out.Reason != runtime.ReasonLeaseLost
}

// closeOutcome completes the outcome, releases what the call has reserved and takes the call to its
// last state, in one step of its session. The lock of the call is held.
func (c *call) closeOutcome(out *runtime.Outcome, e *result, started bool) {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.evaluated != nil {
		*out = c.denialByEvaluation(e.evaluated)
	}
	now := c.clock()
	c.completeOutcome(out, now, started)
	c.settleReservation(out, now)
	c.settle()
	if c.approved() {
		c.exec.approvals.Cancel(c.consent.Request)
		if c.consent.CancelNotify != nil {
			c.consent.CancelNotify()
		}
	}
	c.record.ran = everRan(out.Kind, c.progress.Life.Attempt())
	if c.record.Undo.Possible = c.record.ran && c.tool != nil && c.tool.Spec.Undo != nil && !out.RolledBack; c.record.Undo.Possible {
		c.record.Undo.Ended = now
	} else if c.record.Final == nil && out.Kind != runtime.Unknown {
		c.record.Live = nil // no undo or reconciliation needs it
	}
	c.record.Store(out)
	c.transition(e.event, e.to, &note{
		Ends: true, Session: true, At: now, By: e.by, Kind: out.Kind, Reason: out.Reason, Reasons: out.AllReasons, Fault: e.fault, Text: e.text, Output: e.output,
	})
	if out.RolledBack {
		c.transition(runtime.EventRolledBack, runtime.StateRolledBack, &note{At: now})
	}
}

// restoreInterruption replaces the result of a call that is evaluated again by its interruption,
// and says why the call was not run again.
func (e *result) restoreInterruption(c *call) {
	why := e.outcome.Message
	*e = *c.interruption
	e.outcome.Message += "; it was not run again: " + why
}

// completeOutcome sets the members that every outcome has. The lock of the call is held.
func (c *call) completeOutcome(out *runtime.Outcome, now time.Time, started bool) {
	out.CallID, out.Tool, out.Revision = c.id, c.record.Tool, c.progress.Revision
	c.progress.Watch.Enter(tally.Other, now)
	out.Duration, out.Times, out.Notes = now.Sub(c.began), c.progress.Watch.Times(), c.notes
	if c.consent != nil {
		out.RequestID = c.consent.Request
	}
	if out.Reason != runtime.ReasonNone && out.AllReasons == nil {
		out.AllReasons = []runtime.Reason{out.Reason}
	}
	out.Message = wording.Truncate(out.Message)
	if !started || c.tool == nil { // recovery ends calls whose tool is not declared any more
		return
	}
	outcomes.AddEffect(out, c.tool.Spec.Effect == runtime.SideEffectRead)
	if out.Kind == runtime.TimedOut && !out.Retryable && !c.dry {
		c.turn.blocked.Add(c.tool.Index)
	}
}

// endSpan ends the span of a call that has its outcome.
func endSpan(c *call) {
	if c.exec.tally.Tracer == nil {
		return
	}
	c.progress.Lock()
	s := c.span
	c.progress.Unlock()
	out := c.record.Outcome()
	s.End(&out)
}
