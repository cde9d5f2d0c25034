package consent

import (
	"errors"
	"fmt"
	"time"
)

// remindAfter is when of a request's life, in fifths, a reminder is due.
const remindAfter = 4

// Ask makes the event that a question is put to people. The id is new, and the
// nonce random: it makes the approval one of this request and of no other.
// Whoever is asked is told after the event was applied.
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
		Terms: terms, Message: q.Message, Effect: q.Effect, Undoable: q.Undoable, Revision: q.Call.Revision,
		Created: e.At, Remind: e.At.Add(life / (remindAfter + 1) * remindAfter), Expires: e.At.Add(life), Nonce: nonce,
	}
	r.bind()
	e.Asked = r
	return e, nil
}

// terms returns what of q an approver agrees to, not bound yet.
func (b *Book) terms(q *Question) (Terms, error) {
	var err error
	t := Terms{Reasons: q.Reasons}
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
// Unasked tells that the policy was asked again, by another revision, and wants
// no consent any more: then that it is another one is no mismatch.
func (b *Book) Use(at time.Time, id string, c *Call, unasked bool) (Event, error) {
	r := b.requests[id]
	if r == nil || r.Status != StatusApproved {
		return Event{}, ErrNotApproved
	}
	args, _ := keyed(b.key, purposeArgs, c.Args) // zero, which none have, when they are no value
	e := b.event(EventUsed, at)
	e.Request, e.Call = id, r.CallID
	if changed := r.changes(at, c, args, unasked); changed != nil {
		e.Kind, e.Changed = EventMismatch, changed
	}
	return e, nil
}

// Cancel makes the event that nobody wants the call of a request any more. It
// is false for one that has ended, or was never made.
func (b *Book) Cancel(at time.Time, id string) (Event, bool) {
	r := b.requests[id]
	if r == nil || r.Status > StatusApproved {
		return Event{}, false
	}
	e := b.event(EventCancelled, at)
	e.Request, e.Call = id, r.CallID
	return e, true
}

// CloseRun makes the events that cancel the requests of a run, in the order in
// which they were made.
func (b *Book) CloseRun(at time.Time, session, run string) []Event {
	var events []Event
	for _, r := range b.asked {
		if r.Session != session || r.Run != run {
			continue
		}
		if e, ok := b.Cancel(at, r.ID); ok {
			events = append(events, e)
		}
	}
	return b.number(events)
}

// Due makes the events of what time has brought: reminders, and the ends of
// requests that ran out, in the order in which they were made. A request is
// never ended without its reminder.
func (b *Book) Due(at time.Time) []Event {
	var events []Event
	for _, r := range b.open {
		late := !at.Before(r.Expires)
		if !b.reminded[r.ID] && (late || !at.Before(r.Remind)) {
			e := b.event(EventReminded, at)
			e.Request, e.Call = r.ID, r.CallID
			events = append(events, e)
		}
		if late {
			e := b.event(EventExpired, at)
			e.Request, e.Call = r.ID, r.CallID
			events = append(events, e)
		}
	}
	return b.number(events)
}

// Next returns when Due will have something; false when it will not.
func (b *Book) Next() (time.Time, bool) {
	var next time.Time
	for _, r := range b.open {
		due := r.Remind
		if b.reminded[r.ID] {
			due = r.Expires
		}
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next, len(b.open) > 0
}

// number makes events follow each other.
func (b *Book) number(events []Event) []Event {
	for i := range events {
		events[i].Seq = b.seq + uint64(i) + 1
	}
	return events
}
