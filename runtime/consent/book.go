package consent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MaxOff is how long consent may be off at a time.
const MaxOff = time.Hour

// The errors of methods that cannot make their event.
var (
	ErrNotApproved = errors.New("the request is not approved, or its approval was used")
	ErrNoGrant     = errors.New("the grant does not answer this call any more")
	ErrStale       = errors.New("the event was made of an older state: make it again")
)

// A Book holds the requests and grants of a session, or of many.
//
// Its methods judge and make events and change nothing. Apply alone changes the
// book, after the event was stored. It is not safe for concurrent use.
type Book struct {
	key      []byte
	seq      uint64
	requests map[string]*Request
	asked    []*Request // in the order of asking
	open     []*Request // of those, the open ones
	reminded map[string]bool
	grants   map[string]*grant
	granted  []*grant            // in the order of granting
	shelves  map[grantKey]*shelf // of the same grants
	pause    Pause
}

// A Pause is a time in which nobody is asked.
type Pause struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"` // the first instant at which people are asked again
	By     string    `json:"by"`
	Reason string    `json:"reason"`
}

// NewBook returns an empty book. The key makes the digests of arguments, so that
// events do not tell what a short secret was: it is stored apart from them, and
// a book that is rebuilt needs the same one.
func NewBook(key []byte) *Book {
	return &Book{
		key: bytes.Clone(key), requests: map[string]*Request{}, reminded: map[string]bool{},
		grants: map[string]*grant{}, shelves: map[grantKey]*shelf{},
	}
}

// Replay returns the book that events make of a new one.
func Replay(key []byte, events []Event) (*Book, error) {
	b := NewBook(key)
	for i := range events {
		if err := b.Apply(&events[i]); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	return b, nil
}

// Seq returns how many events b is made of.
func (b *Book) Seq() uint64 { return b.seq }

// Request returns a request.
func (b *Book) Request(id string) (Request, bool) {
	r := b.requests[id]
	if r == nil {
		return Request{}, false
	}
	return *r, true
}

// Requests lists all requests in the order in which they were made.
func (b *Book) Requests() []Request {
	list := make([]Request, len(b.asked))
	for i, r := range b.asked {
		list[i] = *r
	}
	return list
}

// Open lists the requests that wait for answers, in the order in which they were made.
func (b *Book) Open() []Request {
	list := make([]Request, len(b.open))
	for i, r := range b.open {
		list[i] = *r
	}
	return list
}

// Grants lists all grants in the order in which they were given, those that are
// not live any more too.
func (b *Book) Grants() []Grant {
	list := make([]Grant, len(b.granted))
	for i, g := range b.granted {
		list[i] = g.Grant
	}
	return list
}

// Off makes the event that nobody is asked until an instant, at most an hour
// away. An earlier one is replaced.
func (b *Book) Off(at, until time.Time, by, reason string) (Event, error) {
	switch {
	case by == "" || reason == "":
		return Event{}, errors.New("consent is not switched off without a name and a reason")
	case !until.After(at):
		return Event{}, fmt.Errorf("consent cannot be off until %s: that has passed", until.Format(time.RFC3339))
	case until.Sub(at) > MaxOff:
		return Event{}, fmt.Errorf("consent is off for at most %s at a time: choose a nearer end", MaxOff)
	}
	e := b.event(EventOff, at)
	e.Until, e.By, e.Message = plain(until), by, reason
	return e, nil
}

// IsOff reports whether nobody is asked at an instant. That answers every
// question, and lifts nothing else.
func (b *Book) IsOff(at time.Time) (Pause, bool) {
	return b.pause, !at.Before(b.pause.Since) && at.Before(b.pause.Until)
}

// Prune forgets requests that ended and grants that died and are older than
// an instant. To answers that come still the requests are unknown.
func (b *Book) Prune(before time.Time) {
	b.asked = slices.DeleteFunc(b.asked, func(r *Request) bool {
		old := r.Status > StatusApproved && r.Expires.Before(before)
		if old {
			delete(b.requests, r.ID)
			delete(b.reminded, r.ID)
		}
		return old
	})
	b.granted = slices.DeleteFunc(b.granted, func(g *grant) bool {
		old := !g.Live(before) && g.Created.Before(before) && g.Revoked.Before(before)
		if old {
			delete(b.grants, g.ID)
			b.drop(g)
		}
		return old
	})
}
