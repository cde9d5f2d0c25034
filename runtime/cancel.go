package runtime

import (
	"context"
	"errors"
	"fmt"
)

// A CancelResult says what became of an attempt to cancel a call.
type CancelResult uint8

// The results of Cancel.
const (
	CancelUnknownCall  CancelResult = iota // there is no such call
	CancelOK                               // it ended cancelled
	CancelAlreadyEnded                     // it has its outcome
	CancelUnrecorded                       // it was told to stop, and the journal cannot be written
)

var cancelNames = [...]string{"unknown_call", "ok", "already_ended", "journal_unavailable"}

// String returns the name of r, such as already_ended.
func (r CancelResult) String() string { return nameOf("cancel", cancelNames[:], r) }

// MarshalText returns the name of r.
func (r CancelResult) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Cancel ends a call of s, whoever waits for it and wherever it stands: while it
// is judged, waits for a slot or for somebody's consent, or runs. Its handler is
// told to stop, and what it does then comes too late. The event names by, the
// outcome says the reason. When Cancel returns CancelOK that is durable; ctx
// bounds how long it waits for somebody else who is ending the call.
func (s *Session) Cancel(ctx context.Context, callID, by, reason string) CancelResult {
	if s == nil || s.exec == nil {
		return CancelUnknownCall
	}
	s.mu.Lock()
	r := s.calls.find(callID)
	if r == nil {
		s.mu.Unlock()
		return CancelUnknownCall
	}
	c, ended := r.call, r.ended()
	s.mu.Unlock()
	if ended || c == nil {
		return CancelAlreadyEnded
	}
	e := cancellation(ReasonCancelled)
	if e.by = by; reason != "" {
		e.outcome.Message += ": " + reason
	}
	if !c.tryEnd(e) {
		c.mu.Lock()
		over := c.over()
		c.mu.Unlock()
		s.exec.wait(over, nil, orBackground(ctx).Done())
		return CancelAlreadyEnded
	}
	if c.durable() != nil {
		return CancelUnrecorded
	}
	return CancelOK
}

// ended reports whether r has its outcome.
func (r *callRecord) ended() bool {
	return r.first.happened() && (r.final == nil || r.final.happened())
}

// Cancel is Session.Cancel for who knows the session by its id only. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Cancel(ctx context.Context, sessionID, callID, by, reason string) CancelResult {
	return e.sessionOf(sessionID).Cancel(ctx, callID, by, reason)
}

// Await is Session.Await for who knows the session by its id only. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Await(ctx context.Context, sessionID, callID string) Outcome {
	return e.sessionOf(sessionID).Await(ctx, callID)
}

// sessionOf returns a session that the journal knows, nil when there is none.
func (e *Executor) sessionOf(id string) *Session {
	if e == nil {
		return nil
	}
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	return e.sessions.byID[id]
}

// contextOf returns the context of a call that no context of a caller ends.
func (e *Executor) contextOf(session, id string) context.Context {
	if e.hooks == nil || e.hooks.Context == nil {
		return context.Background()
	}
	return e.hooks.Context(session, id)
}

// StartCall begins a call and returns its id without waiting for anything that may
// hang: Session.Await has the outcome. The call belongs to the run: it ends with
// it, by Cancel, or when the turn's budget is used up, and no context of the
// caller ends it. Observers are told of its outcome.
//
// A call with the id and the arguments of an earlier call of the session is that
// one. The error says that t belongs to no run, that the id is that of another call,
// or that the executor is at capacity. Any other refusal is no error: it is the
// outcome.
func (t *Turn) StartCall(in Call) (id string, err error) {
	ctx := context.Background()
	if t != nil && t.run != nil && t.run.session != nil {
		ctx = t.run.session.exec.contextOf(t.run.session.id, in.ID)
	}
	c, r := t.open(ctx, in, pastDone)
	switch {
	case c == nil && r == nil:
		return "", errors.New("a call is made in a turn of a run: there is none")
	case c == nil && r.stored.more != nil && r.stored.more.Reason == ReasonAtCapacity:
		return "", errors.New(r.stored.more.Message)
	case c == nil:
		return "", fmt.Errorf("the call id %q was used for another call: give this one an id of its own", r.id)
	case r != nil:
		return r.id, nil
	}
	c.alone = true
	t.launch(c)
	return c.id, nil
}
