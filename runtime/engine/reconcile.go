package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// ErrNothingHappened is the error that a reconcile handler returns when it knows that the call had
// no effect and will have none.
var ErrNothingHappened = errNothing

// Resolve records, on the word of an operator, the outcome of a call whose outcome is unknown: it
// completed, without an output, or it failed (interrupted). The operator policy is asked
// (runtime.ActResolve), the policy of calls is not. When
// Resolve returns nil the outcome is durable. Any other error is an *action.Error.
func (s *Session) Resolve(ctx context.Context, callID string, f action.ResolveRequest) error {
	s = s.whole()
	if s == nil || s.exec == nil {
		return action.CodeUnknownCall.Err()
	}
	if err := s.exec.log.Health(); err != nil {
		return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	if err := s.place.Enter(); err != nil {
		return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	defer s.place.Leave()
	target := runtime.ActTarget{Session: s.id, Call: callID}
	if err := s.exec.authorize(deadline.OrBackground(ctx), runtime.ActResolve, f.By, target, s); err != nil {
		return err
	}
	r, failed := s.past.Hold(callID, s.revive)
	if failed != nil {
		return failed
	}
	defer s.past.LetGo(r)
	c, why := s.claim(r)
	if why != "" {
		return why.Err()
	}
	out := outcomes.Found(f.TookEffect, f.Reason)
	c.resolve(&out, f.By.ID)
	c.endMoot(&out)
	if err := c.trail.Flush(); err != nil {
		return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	return nil
}

// Resolve is Session.Resolve for a caller that has only the id of the session.
func (e *Executor) Resolve(ctx context.Context, sessionID, callID string, f action.ResolveRequest) error {
	return e.sessionOf(sessionID).Resolve(ctx, callID, f)
}

// reconcile runs the reconcile handlers of the tools of unknown calls. A tool reconciles one call
// after the other. After a timeout its remaining calls are skipped, because the tool would keep the
// executor from starting.
func (e *Executor) reconcile(ctx context.Context, h *history.History) {
	byTool := map[int][]*call{}
	for _, r := range h.Calls {
		s := e.sessionOf(r.Session)
		s.mu.Lock()
		c := s.memory.Live(r.ID)
		s.mu.Unlock()
		if c != nil && c.tool != nil && c.tool.Hooks.Reconcile != nil && c.values.Final != nil {
			byTool[c.tool.Index] = append(byTool[c.tool.Index], c)
		}
	}
	sched.Each(&e.sched, slices.Collect(maps.Values(byTool)), func(calls []*call) {
		for _, c := range calls {
			if _, why := c.run.session.claim(c.record); why == "" && !c.reconcile(ctx) {
				return
			}
		}
	})
}

// reconcile runs the reconcile handler of the tool for the call. It reports false
// when the handler did not return in time.
func (c *call) reconcile(ctx context.Context) bool {
	q := reconcileQuestion{
		Tool: c.tool, Info: c.progress.Scope.Info(), Args: c.values.Final, Obligations: c.obligations, Mask: c.redact, Store: c.store,
		Hold: c.run.session.hold, LetGo: c.run.session.letGo,
	}
	a, late, err := q.Ask(ctx, &c.exec.sched)
	if err != nil {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("what became of the call is still unknown: reconcile: %w", err)).Hide(c.redactText))
		c.run.session.release(c.record)
		return !late
	}
	if a.Value != nil {
		c.values.Outputs = a.Value
	}
	c.resolve(&a.Outcome, "")
	c.endMoot(&a.Outcome)
	return true
}

// claim claims a call whose outcome is unknown: no other goroutine undoes or resolves it until resolve or release. It returns why the call cannot be claimed, empty when it was claimed.
func (s *Session) claim(r *callRecord) (c *call, why action.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	why = r.Claim(r.Live != nil)
	return r.Live, why
}

// resolve gives the call its outcome, under the locks of the call and its session.
func (c *call) resolve(out *runtime.Outcome, by string) {
	s, to := c.run.session, runtime.StateFailed
	if out.Kind == runtime.Completed {
		to = runtime.StateCompleted
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.sched.Now()
	was := c.record.Outcome()
	c.completeOutcome(out, now, true)
	out.Duration, out.Times, out.RequestID = now.Sub(c.began), was.Times, was.RequestID
	s.memory.Resolve(s.exec.instant(now), c.record, out)
	c.fillRunStatus(out)
	c.record.Replace(out)
	c.record.Undo.Busy, c.record.Undo.Ended = false, now
	c.transition(runtime.EventReconciled, to, &note{
		At: now, By: by, Kind: out.Kind, Reason: out.Reason, Reasons: out.AllReasons, Session: true, Output: len(out.Output),
	})
}

// release ends the claim of a call, or its undo, without a change of its outcome.
func (s *Session) release(r *callRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Undo.Busy = false
}
