package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// Cancel ends a call of s in any state: while it is evaluated, waits for a slot or for
// consent, or runs. It cancels the context of the handler, and what the handler returns
// after that is a late result. The event names by, and the outcome holds the reason.
// When Cancel returns nil the outcome is durable. Any other error is an *ActionError. ctx bounds
// how long Cancel waits for another goroutine that is ending the call.
//
// The operator policy is asked first (operator.Cancel).
func (s *Session) Cancel(ctx context.Context, callID string, by operator.Actor, reason string) error {
	if s == nil || s.exec == nil {
		return actionError(CodeUnknownCall)
	}
	if err := s.exec.authorize(orBackground(ctx), operator.Cancel, by, operator.Target{Session: s.id, Call: callID}, s); err != nil {
		return err
	}
	s.mu.Lock()
	r := s.calls.find(callID)
	if r == nil {
		s.mu.Unlock()
		return actionError(CodeUnknownCall)
	}
	c, ended := r.call, r.ended()
	s.mu.Unlock()
	if ended || c == nil {
		return actionError(CodeAlreadyEnded)
	}
	e := cancellation(runtime.ReasonCancelled)
	if e.by, e.cause = by.ID, lifecycle.ByOperator; reason != "" {
		e.outcome.Message += ": " + reason
	}
	if !c.finish(e) {
		c.mu.Lock()
		over := c.done()
		c.mu.Unlock()
		s.exec.sched.Wait(over, nil, orBackground(ctx).Done())
		return actionError(CodeAlreadyEnded)
	}
	if err := c.awaitDurable(); err != nil {
		return &ActionError{Code: CodeJournalUnavailable, cause: err}
	}
	return nil
}

// Cancel is Session.Cancel for a caller that has only the id of the session. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Cancel(ctx context.Context, sessionID, callID string, by operator.Actor, reason string) error {
	return e.sessionOf(sessionID).Cancel(ctx, callID, by, reason)
}

// FindSession returns the session with an id, which this process or an earlier one has started. It
// needs a journal, without which an executor does not know its sessions.
func (e *Executor) FindSession(id string) (*Session, bool) {
	s := e.sessionOf(id)
	return s, s != nil
}

// sessionOf returns the session with an id, nil when the journal has none.
func (e *Executor) sessionOf(id string) *Session {
	if e == nil {
		return nil
	}
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	return e.sessions.byID[id]
}

// contextOf returns the context of a call that does not end with a caller's context.
func (e *Executor) contextOf(session, id string) context.Context {
	if e.hooks == nil || e.hooks.Context == nil {
		return context.Background()
	}
	return e.hooks.Context(session, id)
}

// StartCall starts a call and returns its id, without waiting for the policy, the handler or an
// approver. Session.Await returns the outcome, and observers get it. The call belongs to the run:
// it ends with the run, by Cancel, or when the turn's budget is used up. It does not end with a
// context of the caller.
//
// When the session has an earlier call with the same id and arguments, StartCall returns the id of
// that call. The error says that t belongs to no run, that the id is that of another call, or that
// the executor is at capacity. Any other refusal is not an error but the outcome of the call.
func (t *Turn) StartCall(in runtime.Call) (id string, err error) {
	ctx := context.Background()
	if t != nil && t.run != nil && t.run.session != nil {
		ctx = t.run.session.exec.contextOf(t.run.session.id, in.ID)
	}
	c, r := t.open(ctx, in, pastDone)
	switch {
	case c == nil && r == nil:
		return "", errors.New("a call is made in a turn of a run: there is none")
	case c == nil && r.stored.more != nil && r.stored.more.Reason == runtime.ReasonAtCapacity:
		return "", errors.New(r.stored.more.Message)
	case c == nil:
		return "", fmt.Errorf("the call id %q was used for another call: give this one an id of its own", r.id)
	case r != nil:
		return r.id, nil
	}
	c.life.StartTriggered()
	t.launch(c)
	return c.id, nil
}
