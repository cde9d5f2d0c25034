package consent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// MaxOff is how long consent may be off at a time (SEMANTICS 5.13).
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
	requests map[string]*request
	open     dueQueue       // of those, the open ones
	waiting  map[string]int // how many are open, by session
	grants   map[string]*grant
	shelves  map[grantKey]*shelf // of the same grants
	aged     memoryQueue
	pause    Pause
	retired  map[Rule]retirement

	lastRetired uint64 // number of the latest event that retired rules
	pruned      bool   // Prune has removed a grant
}

// A retirement is the latest event that has retired a rule.
type retirement struct {
	number uint64
	at     time.Time
}

// A Pause is a time in which consent is off: no approver is asked.
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
		key: bytes.Clone(key), requests: map[string]*request{}, waiting: map[string]int{},
		grants: map[string]*grant{}, shelves: map[grantKey]*shelf{}, retired: map[Rule]retirement{},
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
	return r.Request, true
}

// Requests lists all requests in the order in which they were made.
func (b *Book) Requests() []Request {
	return plainRequests(slices.Collect(maps.Values(b.requests)))
}

// plainRequests returns requests as they are shown, in the order of asking.
func plainRequests(list []*request) []Request {
	plain := make([]Request, len(list))
	for i, r := range sorted(list) {
		plain[i] = r.Request
	}
	return plain
}

// Open lists the requests that wait for answers, in the order in which they were made.
func (b *Book) Open() []Request {
	return plainRequests(slices.Clone(b.open.list))
}

// Ended lists at most n requests that need no answer any more, the newest first: those made before the
// request whose id is before, which is the last one of the page before; empty: from the newest. One whose
// time is over has expired, whether or not Due has made the event. When before is not known any more
// there are none.
func (b *Book) Ended(at time.Time, before string, n int) []Request {
	limit := b.seq + 1
	if before != "" {
		limit = 0
		if r := b.requests[before]; r != nil {
			limit = r.number
		}
	}
	var list []*request
	for _, r := range b.requests {
		if r.number < limit && r.over(at) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(x, y *request) int { return cmp.Compare(y.number, x.number) })
	return endedOf(list, at, n)
}

// endedOf returns at most n of a list of requests, those that need no answer any more.
func endedOf(list []*request, at time.Time, n int) []Request {
	ended := []Request{}
	for _, r := range list {
		if len(ended) >= n {
			break
		}
		if !r.over(at) {
			continue
		}
		plain := r.Request
		if plain.Status == StatusOpen {
			plain.Status = StatusExpired
		}
		ended = append(ended, plain)
	}
	return ended
}

// over reports whether r needs no answer any more at an instant.
func (r *request) over(at time.Time) bool { return r.Status != StatusOpen || !at.Before(r.Expires) }

// Len returns how many requests wait for answers.
func (b *Book) Len() int { return len(b.open.list) }

// Waiting returns how many requests of a session wait for answers.
func (b *Book) Waiting(session string) int { return b.waiting[session] }

// Grants lists all grants in the order in which they were given, those that are
// not live any more too.
func (b *Book) Grants() []Grant {
	all := b.granted()
	list := make([]Grant, len(all))
	for i, g := range all {
		list[i] = g.Grant
	}
	return list
}

// Grant returns a grant, live or not.
func (b *Book) Grant(id string) (Grant, bool) {
	g := b.grants[id]
	if g == nil {
		return Grant{}, false
	}
	return g.Grant, true
}

// granted returns all grants in the order in which they were given.
func (b *Book) granted() []*grant {
	return slices.SortedFunc(maps.Values(b.grants), func(x, y *grant) int { return cmp.Compare(x.number, y.number) })
}

// Off makes the event that no approver is asked until an instant, at most an hour
// away. It replaces an earlier Pause (SEMANTICS 5.13).
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

// IsOff reports whether consent is off at an instant. Then every question counts as
// answered; every other check still applies (SEMANTICS 5.13).
func (b *Book) IsOff(at time.Time) (Pause, bool) {
	return b.pause, !at.Before(b.pause.Since) && at.Before(b.pause.Until)
}
