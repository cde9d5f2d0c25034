package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// settleReservation releases or finishes the reservation of a call that has ended, and sets the
// run status in its outcome. s.mu is held.
func (c *call) settleReservation(out *runtime.Outcome, now time.Time) {
	s := c.run.session
	s.endExclusion(c)
	at := c.exec.instant(now)
	var ev rules.Event
	var err error
	switch c.reservation {
	case reserved:
		ev, err = s.state.Release(at, c.id)
	case reservedAndInvoked:
		if out.Kind == runtime.Denied { // its handler did not start after all
			ev, err = s.state.Release(at, c.id)
		} else {
			ev, err = s.state.Finish(at, c.id, statusOf(out))
		}
	}
	if c.reservation != reservedNothing && err == nil {
		s.addRuleEvent(&ev)
	}
	c.reservation = reservedNothing
	if !c.dry {
		c.fillRunStatus(out)
	}
	if c.position > 0 {
		p := c.run.node
		last := p.active[len(p.active)-1]
		p.active[c.position-1] = last
		last.position = c.position
		p.active[len(p.active)-1] = nil
		p.active = p.active[:len(p.active)-1]
		c.position = 0
	}
}

// statusOf returns the status of an invocation for the rules.
func statusOf(out *runtime.Outcome) rules.Status {
	switch {
	case out.Kind == runtime.Completed:
		return rules.StatusOK
	case out.Kind == runtime.Unknown:
		return rules.StatusUnknown
	case out.RolledBack, out.Kind == runtime.Failed:
		return rules.StatusError
	}
	return rules.StatusTimeout
}

// fillRunStatus sets the status of the run after an outcome. s.mu is held.
func (c *call) fillRunStatus(out *runtime.Outcome) {
	state := c.run.session.state
	result := rules.ResultRefused
	switch {
	case out.Kind == runtime.Pending:
		result = rules.ResultPending
	case out.Kind == runtime.Completed:
		result = rules.ResultSucceeded
	case c.life.Attempt() > 0:
		result = rules.ResultFailed
	}
	out.Loop = runtime.Loop(state.Hint(c.run.id, c.record.tool, result, c.heartbeat))
	out.Run = runState(state.RunState(c.run.id))
	if c.exec.requires {
		out.PendingExit = state.Status(c.run.id).PendingExit
	}
}

// endExclusion lets other calls of the session be admitted again, if c is the call that
// excluded them. s.mu is held.
func (s *Session) endExclusion(c *call) {
	if s.admitting == c && c != nil {
		s.exec.sched.Fire(s.admittingDone)
		s.admitting, s.admittingDone = nil, nil
	}
}

// runState returns the RunState for the state s of the rules.
func runState(s rules.RunState) runtime.RunState {
	if s >= rules.RunClosed {
		return runtime.RunFinished
	}
	return runtime.RunState(s)
}

// completeOutcome sets the members that every outcome has. c.mu is held.
func (c *call) completeOutcome(out *runtime.Outcome, now time.Time, started bool) {
	out.CallID, out.Tool, out.Revision = c.id, c.record.tool, c.revision
	c.watch.Enter(tally.Other, now)
	out.Duration, out.Times, out.Notes = now.Sub(c.began), c.watch.Times(), c.notes
	if c.consent != nil {
		out.RequestID = c.consent.id
	}
	if out.Reason != runtime.ReasonNone && out.AllReasons == nil {
		out.AllReasons = []runtime.Reason{out.Reason}
	}
	out.Message = wording.Truncate(out.Message)
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
