package engine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A result is how a call ends.
type result struct {
	waited    bool             // the commit waited for a journal that could not be written
	cause     lifecycle.Cause  // of the end; NotEnded: ByWorker
	moment    lifecycle.Moment // that the cause saw
	by        string           // the approver or operator that ended the call
	evaluated *evaluation      // of the policy, to which the rules are added
	event     runtime.EventKind
	to        runtime.State
	outcome   runtime.Outcome
	output    int // bytes, before redaction
	fault     *CallError
	text      string // for operators; tell sets it
	told      bool   // text is set
	verdict   *Verdict
}

// end gives the call its outcome. The first caller of end wins; later calls do nothing. It always
// reports false, so that a step of the worker can return its result. The caller that must know
// whether it was first uses tryEnd.
func (c *call) end(e result) bool {
	c.tryEnd(&e)
	return false
}

// tryEnd gives the call its outcome and reports whether the call had none before. When it returns
// true no new effect under the fence can start. The effects that had started have ended, or their
// grace is over.
func (c *call) tryEnd(e *result) bool {
	var over *sched.Event
	defer func() { // also when the code below panics or calls runtime.Goexit
		if over != nil {
			c.exec.sched.Fire(over)
		}
	}()
	e.tell(c)
	tell := c.conclude(e, &over)
	if over == nil {
		return false
	}
	c.settleOutcome()
	if e.fault != nil {
		c.exec.report(e.fault)
	}
	if tell {
		c.observeLater()
	}
	return true
}

// tell sets the text that the event of e has for operators. It may run code of the tool.
func (e *result) tell(c *call) {
	if !e.told {
		e.text, e.told = c.tells(&e.outcome, e.fault), true
	}
}

// conclude is the part of tryEnd that holds the call's lock. If e becomes the result of the call,
// it sets over to the signal that the waiters are owed. It reports whether the caller must tell the
// observers.
func (c *call) conclude(e *result, over **sched.Event) (tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.life.TryEnd(cmp.Or(e.cause, lifecycle.ByWorker), e.moment, c.clock()) {
		return false
	}
	if c.life.Rejudging() {
		e.notRunAgain(c)
	}
	if c.life.Lingers() {
		c.exec.lingering.Add(1)
	}
	*over = c.over()
	started := c.life.Attempt() > 0
	c.cancelContexts(e.outcome.Kind, started)
	out := &e.outcome
	c.found = e.verdict
	if drained := c.shutFence(); drained != nil {
		c.mu.Unlock()
		out.Detail.Writing = !c.exec.sched.WaitFor(drained, grace)
		c.mu.Lock()
	}
	if c.ownsParts(out) {
		c.mu.Unlock()
		if out.RolledBack = c.rollback() && !out.Detail.Writing; !out.RolledBack {
			e.text = strings.TrimPrefix(e.text+"; what the call did was not taken back", "; ")
		}
		c.mu.Lock()
	}
	c.close(out, e, started)
	return c.life.Unattended()
}

// ownsParts reports whether the call rolls back what its handler did at participants. It does not
// when it was decided to commit, or when the next owner of the journal settles the call. c.mu is
// held.
func (c *call) ownsParts(out *runtime.Outcome) bool {
	return len(c.parts) > 0 && out.Kind != runtime.Completed && out.Kind != runtime.Unknown && out.Reason != runtime.ReasonLeaseLost
}

// close completes the outcome, releases what the call has reserved and takes the call to its last
// state, in one step of its session. c.mu is held.
func (c *call) close(out *runtime.Outcome, e *result, started bool) {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.evaluated != nil {
		*out = c.refusedLate(e.evaluated)
	}
	now := c.clock()
	c.complete(out, now, started)
	c.settle(out, now)
	if c.resumed() {
		c.exec.approvals.drop(c)
	}
	if c.record.undo.possible = started && c.tool != nil && c.tool.spec.Undo != nil && !out.RolledBack; c.record.undo.possible {
		c.record.undo.ended = now
	} else if c.record.final == nil && out.Kind != runtime.Unknown {
		c.record.call = nil // no undo or reconciliation needs it
	}
	c.record.keep(out)
	c.transition(e.event, e.to, &note{
		ends: true, session: true, at: now, by: e.by, kind: out.Kind, reason: out.Reason, reasons: out.AllReasons, fault: e.fault, text: e.text, output: e.output,
	})
	if out.RolledBack {
		c.transition(runtime.EventRolledBack, runtime.StateRolledBack, &note{at: now})
	}
}

// cancelContexts cancels the contexts of the handler, the preview and the policy of an ended call.
// c.mu is held.
func (c *call) cancelContexts(kind runtime.OutcomeKind, started bool) {
	why := uint32(whyCanceled)
	if kind == runtime.TimedOut || c.life.Evaluating() && kind == runtime.Denied {
		why = whyDeadline
	}
	if started {
		c.running.cancel(why)
	}
	if c.asked != nil && c.asked.showing != nil {
		if kind == runtime.Failed {
			why = whyDeadline
		}
		c.asked.showing.cancel(why)
	}
	if c.life.Evaluating() {
		c.evaluation.cancel(why)
	}
}

// complete sets the members that every outcome has. c.mu is held.
func (c *call) complete(out *runtime.Outcome, now time.Time, started bool) {
	out.CallID, out.Tool, out.Revision = c.id, c.record.tool, c.revision
	out.Duration = now.Sub(c.began)
	if c.asked != nil {
		out.RequestID = c.asked.id
	}
	if out.Reason != runtime.ReasonNone && out.AllReasons == nil {
		out.AllReasons = []runtime.Reason{out.Reason}
	}
	out.Message = limited(out.Message)
	if !started || out.Kind != runtime.TimedOut && out.Kind != runtime.Cancelled {
		return
	}
	switch {
	case out.Detail.Writing:
		out.Message += "; a write that it had begun has not ended"
	case c.tool.spec.Effect != runtime.SideEffectRead:
		out.Message += "; it may still have taken effect"
	}
	if out.Kind == runtime.TimedOut && !out.Retryable && !c.dry {
		c.turn.block(c.index)
	}
}

// refuse denies the call.
func (c *call) refuse(r runtime.Reason, detail runtime.Detail, message string) bool {
	return c.end(*refusal(r, detail, message))
}

// refusal returns the result of a denied call.
func refusal(r runtime.Reason, detail runtime.Detail, message string) *result {
	return &result{
		event: runtime.EventDenied, to: runtime.StateDenied,
		outcome: runtime.Outcome{Kind: runtime.Denied, Reason: r, Detail: detail, Message: message},
	}
}

// cancel ends the call because no caller needs its outcome any more.
func (c *call) cancel(r runtime.Reason) { c.end(*cancellation(r)) }

// cancellation returns the result of a call whose outcome no caller needs any more.
func cancellation(r runtime.Reason) *result {
	message := "the call was cancelled"
	if r == runtime.ReasonRunClosed {
		message = "the run was closed"
	}
	return &result{
		event: runtime.EventAborted, to: runtime.StateAborted,
		outcome: runtime.Outcome{Kind: runtime.Cancelled, Reason: r, Message: message},
	}
}

// outOfTime is the message of a call that came too late in its turn.
const outOfTime = "the turn's time was over before the call could start"

// overdue ends the call because the time of a moment is over.
func (c *call) overdue(at lifecycle.Moment) {
	var e *result
	switch at.Phase() {
	case lifecycle.Deciding:
		e = c.unjudged("timeout", "the policy could not judge the call in time, which is denied therefore")
		e.fault = c.faulty(runtime.ReasonPolicyError, errAbandoned)
	case lifecycle.Admitting, lifecycle.Held:
		e = refusal(runtime.ReasonDeadline, runtime.Detail{}, outOfTime)
	case lifecycle.Previewing:
		e = c.previewLate()
	case lifecycle.Queued:
		e = refusal(runtime.ReasonAtCapacity, runtime.Detail{RetryAfter: c.exec.slots[c.index].RetryAfter()}, fmt.Sprintf("%q is busy: %s in time",
			c.record.tool, counted(c.tool.spec.Limits.Concurrency, "its only slot did not get free", "none of its %d slots got free")))
	case lifecycle.Running, lifecycle.Grace, lifecycle.Finishing:
		c.timeOut(at)
		return
	case lifecycle.Committing:
		e = &result{}
		c.setUnknown(e, runtime.ReasonCommitFailed, errCommitting)
	default:
		return
	}
	e.cause, e.moment = lifecycle.ByTimer, at
	c.end(*e)
}

// unjudged returns the result of a call that the policy could not evaluate.
func (c *call) unjudged(rule, message string) *result {
	j := &evaluation{}
	j.refuse(runtime.ReasonPolicyError, runtime.Detail{Rule: rule}, message)
	return &result{event: runtime.EventDenied, to: runtime.StateDenied, evaluated: j, outcome: runtime.Outcome{Kind: runtime.Denied}}
}

// timeOut ends the call because its handler ran past the deadline.
func (c *call) timeOut(at lifecycle.Moment) {
	spec := c.tool.spec
	had := c.running.due.Sub(c.now)
	c.end(result{
		cause: lifecycle.ByTimer, moment: at, event: runtime.EventAborted, to: runtime.StateAborted,
		outcome: runtime.Outcome{
			Kind: runtime.TimedOut, Reason: runtime.ReasonDeadline, Detail: runtime.Detail{Deadline: had},
			Retryable: spec.Idempotent && spec.Retry != nil && spec.Retry.OnTimeout,
			Message:   fmt.Sprintf("%q did not finish within %s", c.record.tool, limit(had)),
		},
	})
}
