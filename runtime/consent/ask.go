package consent

import (
	"errors"
	"fmt"
	"time"
)

// remindAfter is when of a request's life, in fifths, a reminder is due.
const remindAfter = 4

// Ask makes the event that a question is put to the approvers. The id is new, and
// the nonce random: it makes the approval one of this request and of no other.
// The caller notifies the approvers after it has applied the event.
func (b *Book) Ask(at time.Time, id, nonce string, q *Question) (Event, error) {
	switch {
	case id == "" || nonce == "":
		return Event{}, errors.New("a request needs an id and a nonce")
	case b.requests[id] != nil:
		return Event{}, fmt.Errorf("request %q exists: make up another id", id)
	case len(q.rules()) == 0:
		return Event{}, errors.New("a request needs a reason with the code of the rule that asks")
	}
	terms, err := b.terms(q)
	if err != nil {
		return Event{}, err
	}
	e := b.event(EventAsked, at)
	e.Request, e.Call = id, q.Call.ID
	life := terms.Requirement.Timeout
	r := &Request{
		ID: id, CallID: q.Call.ID, Tool: q.Call.Tool, Pin: q.Call.Pin,
		Session: q.Call.Session, Run: q.Call.Run, Principal: q.Call.Principal, Agent: q.Call.Agent,
		Terms: terms, Message: q.Message, Effect: q.Effect, Undoable: q.Undoable,
		Created: e.At, Remind: e.At.Add(life / (remindAfter + 1) * remindAfter), Expires: e.At.Add(life), Nonce: nonce,
	}
	r.bind()
	e.Asked = r
	return e, nil
}

// terms returns what of q an approver agrees to, not bound yet.
func (b *Book) terms(q *Question) (Terms, error) {
	var err error
	t := Terms{Program: q.Call.Program, Reasons: q.Reasons, Obligations: q.Obligations, Revision: q.Call.Revision}
	if t.Requirement, err = Merge(&q.Requirement); err != nil {
		return t, err
	}
	if t.ArgsDigest, err = keyed(b.key, purposeArgs, q.Call.Args); err != nil {
		return t, err
	}
	if t.Args, t.Masked, err = mask(b.key, q.Call.Args, nil); err != nil {
		return t, err
	}
	if p := q.Call.Preview; p != nil {
		copied := *p
		t.Preview = &copied
	}
	return t, nil
}

// bind sets the digest of what is approved.
func (r *Request) bind() {
	bound := bindingOf(r)
	r.Binding = bound.digest()
}

// Use makes the event that uses up an approval, immediately before the handler
// starts: EventUsed when the call is what was approved, and EventMismatch, which
// denies it, when it is not. Either way the approval holds for nothing else,
// however the handler ends.
//
// Q is the call as it is about to run, with what the policy asks about it now. A
// policy that was edited in between makes no mismatch as long as it asks the same
// question. Unasked tells that it wants no consent any more: then there is none to
// compare (SEMANTICS 5.2 and 5.7).
func (b *Book) Use(at time.Time, id string, q *Question, unasked bool) (Event, error) {
	r := b.requests[id]
	if r == nil || r.Status != StatusApproved {
		return Event{}, ErrNotApproved
	}
	args, _ := keyed(b.key, purposeArgs, q.Call.Args) // zero, which none have, when they are no value
	e := b.event(EventUsed, at)
	e.Request, e.Call = id, r.CallID
	if q.Call.Revision != r.Revision {
		e.Revision = q.Call.Revision
	}
	if changed := r.changes(at, q, args, unasked); changed != nil {
		e.Kind, e.Changed = EventMismatch, changed
	}
	return e, nil
}

// Cancel makes the event that the call of a request was cancelled. It is false for
// a request that has ended, or was never made.
func (b *Book) Cancel(at time.Time, id string) (Event, bool) {
	r := b.requests[id]
	if r == nil || r.Status > StatusApproved {
		return Event{}, false
	}
	e := b.event(EventCancelled, at)
	e.Request, e.Call = id, r.CallID
	return e, true
}

// AtOnce is of how many requests Due makes events at most.
const AtOnce = 64

// Due makes the events of what time has brought: reminders, and the ends of
// requests that ran out, of the AtOnce requests that were due first, in the order in
// which these were made. After they were applied there may be more; there are none
// left when it makes none. A request is never ended without its reminder.
func (b *Book) Due(at time.Time) []Event {
	var events []Event
	for _, r := range sorted(b.open.first(at, AtOnce)) {
		events = b.dueOf(events, at, r)
	}
	return b.number(events)
}

// DueOf is Due for one request.
func (b *Book) DueOf(at time.Time, id string) []Event {
	r := b.requests[id]
	if r == nil || r.Status != StatusOpen {
		return nil
	}
	return b.number(b.dueOf(nil, at, r))
}

// dueOf appends the events of what time has brought to an open request (SEMANTICS 5.4).
func (b *Book) dueOf(events []Event, at time.Time, r *request) []Event {
	late := !at.Before(r.Expires)
	if !r.reminded && (late || !at.Before(r.Remind)) {
		e := b.event(EventReminded, at)
		e.Request, e.Call = r.ID, r.CallID
		events = append(events, e)
	}
	if late {
		e := b.event(EventExpired, at)
		e.Request, e.Call = r.ID, r.CallID
		events = append(events, e)
	}
	return events
}

// Next returns when Due will have something; false when it will not.
func (b *Book) Next() (time.Time, bool) {
	if len(b.open.list) == 0 {
		return time.Time{}, false
	}
	return b.open.list[0].due(), true
}

// number makes events follow each other.
func (b *Book) number(events []Event) []Event {
	for i := range events {
		events[i].Seq = b.seq + uint64(i) + 1
	}
	return events
}
