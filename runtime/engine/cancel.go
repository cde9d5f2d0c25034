package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
)

// Cancel ends a call of s in any state: while it is evaluated, waits for a slot or for
// consent, or runs. It cancels the context of the handler, and what the handler returns
// after that is a late result. The event names by, and the outcome holds the reason.
// When Cancel returns nil the outcome is durable. Any other error is an *action.Error. ctx bounds
// how long Cancel waits for another goroutine that is ending the call.
//
// The operator policy is asked first (runtime.ActCancel).
func (s *Session) Cancel(ctx context.Context, callID string, by runtime.Actor, reason string) error {
	return s.cancel(ctx, callID, by, reason, false)
}

func (s *Session) cancel(ctx context.Context, callID string, by runtime.Actor, reason string, now bool) error {
	s = s.whole()
	if s == nil || s.exec == nil {
		return action.CodeUnknownCall.Err()
	}
	if err := s.place.Enter(); err != nil {
		return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	defer s.place.Leave()
	if err := s.exec.authorize(deadline.OrBackground(ctx), runtime.ActCancel, by, runtime.ActTarget{Session: s.id, Call: callID}, s); err != nil {
		return err
	}
	c, why := s.past.Running(callID)
	if why != "" {
		return why.Err()
	}
	e := aborted(outcomes.Cancelled())
	if e.by, e.cause = by.ID, lifecycle.ByOperator; reason != "" {
		e.outcome.Message += ": " + reason
	}
	if now {
		s.exec.processes.Hurry(processes.Key(s.id, c.id))
	}
	if !c.finish(e) {
		c.progress.Lock()
		over := c.done()
		c.progress.Unlock()
		s.exec.sched.Wait(over, nil, deadline.OrBackground(ctx).Done())
		return action.CodeAlreadyEnded.Err()
	}
	if err := c.trail.Flush(); err != nil {
		return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	return nil
}

// Cancel is Session.Cancel for a caller that has only the id of the session. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Cancel(ctx context.Context, sessionID, callID string, by runtime.Actor, reason string) error {
	return e.sessionOf(sessionID).Cancel(ctx, callID, by, reason)
}

// CancelNow is Cancel, but leaves the process of a command no grace: it gets SIGKILL.
func (e *Executor) CancelNow(ctx context.Context, sessionID, callID string, by runtime.Actor, reason string) error {
	return e.sessionOf(sessionID).cancel(ctx, callID, by, reason, true)
}
