package runtime

import (
	"fmt"
	"time"
)

// An ending is how a call ends.
type ending struct {
	during  phase // only while the call is in this phase; 0: in any
	event   EventKind
	to      State
	outcome Outcome
	output  int // bytes, before redaction
	fault   *CallError
}

// end gives the call its outcome, once: the first who tries does it. It always
// reports false, so that a step can return what it returns. Use ended to know
// who was first.
func (c *call) end(e ending) bool {
	c.tryEnd(&e)
	return false
}

// tryEnd gives the call its outcome and reports whether it had none before. When
// it returns true no effect under the fence can happen any more, and those that
// had begun have ended, or had their grace.
func (c *call) tryEnd(e *ending) bool {
	c.mu.Lock()
	if c.ending || e.during != 0 && c.phase != e.during {
		c.mu.Unlock()
		return false
	}
	c.ending = true
	started := c.attempt > 0
	c.cancelContexts(e.outcome.Kind, started)
	out := &c.record.outcome
	*out = e.outcome
	if drained := c.fence.shut(); drained != nil {
		c.mu.Unlock()
		out.Detail.Writing = !waitFor(drained, grace)
		c.mu.Lock()
	}
	now := c.clock()
	c.complete(out, now, started)
	c.run.settle(c, out.Kind, started)
	c.transition(e.event, e.to, note{at: now, outcome: out, fault: e.fault, output: e.output})
	c.mu.Unlock()
	if e.fault != nil {
		c.exec.report(e.fault)
	}
	close(c.record.done)
	return true
}

// cancelContexts tells the handler, or a policy that is still thinking, that it
// is over. c.mu is held.
func (c *call) cancelContexts(kind OutcomeKind, started bool) {
	why := uint32(whyCanceled)
	if kind == TimedOut || c.evaluating && kind == Denied {
		why = whyDeadline
	}
	if started {
		c.handlerCtx.cancel(why)
	}
	if c.evaluating {
		c.evaluation.cancel(why)
	}
}

// complete fills in what every outcome says. c.mu is held.
func (c *call) complete(out *Outcome, now time.Time, started bool) {
	out.CallID, out.Tool, out.Revision = c.in.ID, c.in.Tool, c.revision
	out.Duration = now.Sub(c.began)
	if out.Reason != ReasonNone && out.AllReasons == nil {
		out.AllReasons = []Reason{out.Reason}
	}
	if !started || out.Kind != TimedOut && out.Kind != Cancelled {
		return
	}
	switch {
	case out.Detail.Writing:
		out.Message += "; a write that it had begun has not ended"
	case c.tool.spec.Effect != SideEffectRead:
		out.Message += "; it may still have taken effect"
	}
	if out.Kind == TimedOut && !out.Retryable && !c.dry {
		c.turn.block(c.index)
	}
}

// waitFor waits until done is closed, at most for d.
func waitFor(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// refuse denies the call.
func (c *call) refuse(r Reason, detail Detail, message string) bool {
	return c.end(refusal(r, detail, message))
}

// refusal is the ending of a denied call.
func refusal(r Reason, detail Detail, message string) ending {
	return ending{
		event: EventDenied, to: StateDenied,
		outcome: Outcome{Kind: Denied, Reason: r, Detail: detail, Message: message},
	}
}

// cancel ends the call because nobody wants its outcome any more.
func (c *call) cancel(r Reason) {
	message := "the call was cancelled"
	if r == ReasonRunClosed {
		message = "the run was closed"
	}
	c.end(ending{
		event: EventAborted, to: StateAborted,
		outcome: Outcome{Kind: Cancelled, Reason: r, Message: message},
	})
}

// overdue ends the call because phase p is over.
func (c *call) overdue(p phase) {
	switch p {
	case phaseDeciding:
		e := ending{event: EventDenied, to: StateDenied, fault: c.faulty(ReasonPolicyError, errAbandoned)}
		e.during = p
		e.outcome = Outcome{
			Kind: Denied, Reason: ReasonPolicyError, Detail: Detail{Rule: "timeout"},
			Message: "the policy could not judge the call in time, which is denied therefore",
		}
		c.end(e)
	case phaseAdmitting:
		e := refusal(ReasonDeadline, Detail{}, "the turn's time was over before the call was admitted")
		e.during = p
		c.end(e)
	case phaseQueued:
		e := refusal(ReasonAtCapacity, Detail{}, fmt.Sprintf(
			"%q is busy: none of its %d slots got free in the turn's time", c.in.Tool, c.tool.spec.Limits.Concurrency))
		e.during = p
		c.end(e)
	case phaseRunning:
		c.timeOut()
	}
}

// timeOut ends the call because its handler outlived the deadline.
func (c *call) timeOut() {
	spec := c.tool.spec
	had := c.handlerCtx.due.Sub(c.now)
	c.end(ending{
		during: phaseRunning, event: EventAborted, to: StateAborted,
		outcome: Outcome{
			Kind: TimedOut, Reason: ReasonDeadline, Detail: Detail{Deadline: had},
			Retryable: spec.Idempotent && spec.Retry != nil && spec.Retry.OnTimeout,
			Message:   fmt.Sprintf("%q did not finish within %s", c.in.Tool, seconds(had)),
		},
	})
}

// reserve counts an invocation of the call's tool, if f still holds or nobody
// else could be admitted meanwhile. While another call is being judged it
// returns what to wait for.
func (r *Run) reserve(c *call, f *Facts) (held <-chan struct{}) {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder != c && (s.holder != nil || r.facts.version != f.version) {
		return s.held
	}
	s.letGo(c)
	r.facts.change(c.index).Invocations++
	c.reserved = true
	return nil
}

// letGo lets others be admitted, if it was c that kept them. s.mu is held.
func (s *Session) letGo(c *call) {
	if s.holder == c && c != nil {
		close(s.held)
		s.holder, s.held = nil, nil
	}
}

// snapshot returns the facts of r as they stand and, the first time, lists the
// call among those without an outcome. It reports false when r is being closed.
func (r *Run) snapshot(c *call) (facts *Facts, ok bool) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	if r.closing {
		return nil, false
	}
	if c.position == 0 && !c.dry {
		r.active = append(r.active, c)
		c.position = len(r.active)
	}
	return r.facts.snapshot(), true
}

// settle commits or releases what an ended call had reserved.
func (r *Run) settle(c *call, kind OutcomeKind, started bool) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.letGo(c)
	if c.reserved && !started {
		r.facts.change(c.index).Invocations--
	}
	if kind == Completed && started {
		r.facts.change(c.index).Successes++
	}
	if c.position > 0 {
		last := r.active[len(r.active)-1]
		r.active[c.position-1] = last
		last.position = c.position
		r.active[len(r.active)-1] = nil
		r.active = r.active[:len(r.active)-1]
	}
}
