package engine

import "github.com/ambit-tools/ambit/runtime"

// claimUnknown keeps other goroutines from undoing or resolving an unknown call, until
// resolveUnknown or releaseClaim. It returns why the call cannot be claimed, empty when it was
// claimed.
func (s *Session) claimUnknown(r *callRecord) (why Code) {
	if r == nil {
		return CodeUnknownCall
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !r.ended() || r.outcome().Kind != runtime.Unknown || r.undo.done || r.call == nil:
		return CodeNotUnknown
	case r.undo.busy:
		return CodeBusy
	}
	r.undo.busy = true
	return ""
}

// resolveUnknown gives an unknown call its outcome, under the locks of the call and its session.
func (c *call) resolveUnknown(out *runtime.Outcome, to runtime.State, by string) {
	s := c.run.session
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.sched.Now()
	was := c.record.outcome()
	c.completeOutcome(out, now, true)
	out.Duration, out.Times, out.RequestID = now.Sub(c.began), was.Times, was.RequestID
	if ev, err := s.state.Finish(s.exec.instant(now), c.id, statusOf(out)); err == nil {
		s.addRuleEvent(&ev)
	}
	c.fillRunStatus(out)
	c.record.later.Store(out)
	c.record.undo.busy, c.record.undo.ended = false, now
	c.transition(runtime.EventReconciled, to, &note{
		at: now, by: by, kind: out.Kind, reason: out.Reason, reasons: out.AllReasons, session: true, output: len(out.Output),
	})
}

// releaseClaim ends the claim without an outcome.
func (c *ident) releaseClaim() {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.record.undo.busy = false
}

// noEffect returns the outcome of a call that is known to have had no effect. who begins the
// message and names the source, such as "the tool found".
func noEffect(who string) runtime.Outcome {
	return runtime.Outcome{Kind: runtime.Failed, Reason: runtime.ReasonInterrupted, Message: who + " that the interrupted call had no effect"}
}
