package consent

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"
)

// Books are the books of many sessions, a Book for each that has asked for consent, and what belongs to
// no session: the Pause in which consent is off, and the rules that were retired. The events of a
// session have numbers of their own, and so have those of no session, so that each session can be read
// alone.
//
// Like a Book, Books judge and make events and change nothing: Apply alone does. They are not safe for
// concurrent use.
type Books struct {
	key       []byte
	common    *Book                 // of the events of no session
	none      *Book                 // stands for a session that has asked nothing
	sessions  map[string]*shelved   // by session
	byRequest map[string]*shelved   // by the id of a request or a grant
	queues    [queues]*sessionQueue // of sessions with something to come
	open      int                   // requests
	made      uint64                // requests and grants so far: their order
}

// A shelved is the book of a session in Books.
type shelved struct {
	*Book
	session string
	away    bool // the session left memory: its book stays as long as it has something
	next    [queues]place
}

// NewBooks returns Books of no session. The key is that of NewBook.
func NewBooks(key []byte) *Books {
	return &Books{
		key: bytes.Clone(key), common: NewBook(key), none: NewBook(key), sessions: map[string]*shelved{}, byRequest: map[string]*shelved{},
		queues: newQueues(),
	}
}

// Apply adds an event, as Book.Apply does, and returns its session, empty for one of no session: those
// of answers to unknown requests, of a pause and of retired rules.
func (b *Books) Apply(e *Event) (session string, err error) {
	session = b.SessionOf(e)
	return session, b.change(session, e, (*Book).Apply)
}

// Continue adds an event that an entry of a session holds, as Book.Continue does.
func (b *Books) Continue(session string, e *Event) error {
	if of := b.SessionOf(e); of != session && !e.rejects() {
		session = of // of a store in which the next entry of any session had the event
	}
	return b.change(session, e, (*Book).Continue)
}

// SessionOf returns the session of an event that b makes or has made, empty when it belongs to none.
func (b *Books) SessionOf(e *Event) string {
	if e.Asked != nil {
		return e.Asked.Session
	}
	if of := b.byRequest[cmp.Or(e.Request, e.Grant)]; of != nil {
		return of.session
	}
	return ""
}

// change adds an event to the book of a session.
func (b *Books) change(session string, e *Event, add func(*Book, *Event) error) error {
	if session == "" {
		if err := add(b.common, e); err != nil {
			return err
		}
		if e.Kind == EventRetired {
			b.retire(e)
		}
		return nil
	}
	of := b.sessions[session]
	if of == nil {
		of = &shelved{Book: NewBook(b.key), session: session}
	}
	was := of.Len()
	if err := add(of.Book, e); err != nil {
		return err
	}
	b.sessions[session] = of
	b.open += of.Len() - was
	b.note(of, cmp.Or(e.Request, e.Grant))
	return nil
}

// note keeps in mind what an event of the book of a session was about.
func (b *Books) note(of *shelved, id string) {
	if r := of.requests[id]; r != nil {
		b.byRequest[id] = of
		b.mark(&r.made)
	}
	if g := of.grants[id]; g != nil {
		b.byRequest[id] = of
		if g.made == 0 {
			b.mark(&g.made)
			b.retireOf(of, g)
		}
	}
	b.requeue(of)
}

// mark gives a request or a grant its place among all of them.
func (b *Books) mark(made *uint64) {
	if *made == 0 {
		b.made++
		*made = b.made
	}
}

// retire takes the rules that an event retires from the grants of all sessions (SEMANTICS 5.7).
func (b *Books) retire(e *Event) {
	for _, of := range b.sessions {
		of.retireHere(e)
		b.requeue(of)
	}
}

// retireOf takes the rules from a grant that were retired after it was given: its session may have been
// elsewhere then.
func (b *Books) retireOf(of *shelved, g *grant) {
	for _, r := range b.common.retiredAfter(g.after) {
		of.retireGrant(g, r.At, []Rule{r.Rule})
	}
}

// Put adds the book of a session, as it is read from a journal. A book that is here already stays: it has the same events,
// and those that are not in the journal yet.
func (b *Books) Put(session string, book *Book) {
	if here := b.sessions[session]; here != nil {
		here.away = false
		return
	}
	of := &shelved{Book: book, session: session}
	b.sessions[session] = of
	b.open += of.Len()
	for _, r := range sorted(slices.Collect(maps.Values(of.requests))) {
		b.note(of, r.ID)
	}
	for _, g := range of.granted() {
		b.note(of, g.ID)
	}
}

// Has reports whether the book of a session is here.
func (b *Books) Has(session string) bool { return b.sessions[session] != nil }

// Leave notes that a session leaves memory. Its book stays for as long as it has a request or a grant, so that these are
// listed, answered, revoked and retired as before; then it is removed, and Put adds it again. Leave returns the ids of
// its requests.
func (b *Books) Leave(session string) (requests []string) {
	if of := b.sessions[session]; of != nil {
		of.away = true
		requests = slices.Collect(maps.Keys(of.requests))
		b.shed(of)
	}
	return requests
}

// shed removes the book of a session that left memory, if it has nothing.
func (b *Books) shed(of *shelved) {
	if of.away && len(of.requests)+len(of.grants) == 0 {
		b.queues[dueNext].set(of, time.Time{}, 0)
		b.queues[agedNext].set(of, time.Time{}, 0)
		delete(b.sessions, of.session)
	}
}

// PutCommon sets the book of no session. It comes before those of sessions.
func (b *Books) PutCommon(book *Book) { b.common = book }

// Of returns the book of a session to read, an empty one when the session has asked nothing. The empty
// id stands for the book of no session.
func (b *Books) Of(session string) *Book {
	if session == "" {
		return b.common
	}
	if of := b.sessions[session]; of != nil {
		return of.Book
	}
	return b.none
}

// about returns the book that has a request or a grant, that of no session when none has it.
func (b *Books) about(id string) *Book {
	if of := b.byRequest[id]; of != nil {
		return of.Book
	}
	return b.common
}

// Ask is that of the book of the session of a question.
func (b *Books) Ask(at time.Time, id, nonce string, q *Question) (Event, error) {
	return b.Of(q.Call.Session).Ask(at, id, nonce, q)
}

// Decide is that of the book of a request.
func (b *Books) Decide(at time.Time, id string, a *Answer) Event {
	e := b.about(id).Decide(at, id, a)
	if e.Result.Granted != nil {
		e.After = b.common.lastRetired
	}
	return e
}

// Use is that of the book of a request.
func (b *Books) Use(at time.Time, id string, q *Question, unasked bool) (Event, error) {
	return b.about(id).Use(at, id, q, unasked)
}

// Differs is that of the book of a request.
func (b *Books) Differs(at time.Time, id string, q *Question, unasked bool) []Change {
	return b.about(id).Differs(at, id, q, unasked)
}

// Cancel is that of the book of a request.
func (b *Books) Cancel(at time.Time, id string) (Event, bool) { return b.about(id).Cancel(at, id) }

// Match is that of the book of the session of a question.
func (b *Books) Match(at time.Time, q *Question) (Grant, bool) {
	return b.Of(q.Call.Session).Match(at, q)
}

// UseGrant is that of the book of the session of a question.
func (b *Books) UseGrant(at time.Time, id string, q *Question) (Event, error) {
	return b.Of(q.Call.Session).UseGrant(at, id, q)
}

// Revoke is that of the book of a grant.
func (b *Books) Revoke(at time.Time, id, by, reason string) Event {
	return b.about(id).Revoke(at, id, by, reason)
}

// End is that of the book of a session.
func (b *Books) End(at time.Time, session string) []Event { return b.Of(session).End(at) }

// Retire is Book.Retire for the grants of all sessions. Its event belongs to no session.
func (b *Books) Retire(at time.Time, exists func(Rule) bool) (Event, bool) {
	e := b.common.event(EventRetired, at)
	for _, g := range b.granted() {
		e.Retired = g.without(at, exists, e.Retired)
	}
	return e, len(e.Retired) > 0
}

// Off is Book.Off for all sessions. Its event belongs to no session.
func (b *Books) Off(at, until time.Time, by, reason string) (Event, error) {
	return b.common.Off(at, until, by, reason)
}

// IsOff is Book.IsOff for all sessions.
func (b *Books) IsOff(at time.Time) (Pause, bool) { return b.common.IsOff(at) }
