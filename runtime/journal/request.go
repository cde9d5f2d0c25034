package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// A Requester is what a Journal is too, when it finds the entries about requests for consent by an index. The
// index is made of the entries, and holds nothing that they do not say.
type Requester interface {
	// Requests returns the requests that a filter matches, the newest first.
	Requests(ctx context.Context, f RequestFilter) ([]Request, error)
}

// A RequestFilter says which requests are wanted; what is empty matches all.
type RequestFilter struct {
	Session string
	Call    string
	ID      string
	Prefix  bool      // Session, Call and ID are how the ids begin
	At      time.Time // that Waiting, Ended and Live mean
	Waiting bool      // they take answers
	Ended   bool      // they take none
	Granted bool      // a grant came of them
	Live    bool      // likewise, and nothing in the entries has ended it: a policy may have
	Retired bool      // instead of requests: the one that has no id, for the entries that say which rules were retired
	Before  uint64    // they were asked by an entry before this one; 0: by any
	Limit   int       // at most so many; 0: all
}

// A Request is where the entries are that tell of a request for consent, and of the grant that came of it, which
// has the same id.
type Request struct {
	Session, ID, Call string
	Steps             []RequestStep // in the order of the entries
	Used              uint64        // the last entry with a use of the grant; 0: there is none
	Expires           time.Time     // when it stops taking answers
	Until             time.Time     // when its grant ends by itself; zero: it does not, or there is none
}

// A RequestStep is an entry with a change of a request.
type RequestStep struct {
	Seq uint64
	What
}

// What says what an entry changes of a request or its grant.
type What byte

// The changes.
const (
	RequestAsked   What = 'a' // it was made
	RequestChanged What = 'c' // it has an approval more, another text, or was recalled to its approvers
	RequestEnded   What = 'e' // it takes no answers
	RequestGranted What = 'g' // likewise: it was approved, and a grant came of it
	GrantEnded     What = 'r' // the grant was taken back
	RequestMissed  What = 'm' // its call was not as approved, and the grant is over
	GrantUsed      What = 'u' // the grant answered for a call
	RulesRetired   What = 't' // rules that asked are gone
)

// Open reports whether nothing has ended the request but, perhaps, time.
func (r *Request) Open() bool {
	return r.has(RequestAsked) && !r.has(RequestEnded, RequestGranted, RequestMissed)
}

// Granted reports whether a grant came of the request, and whether nothing has ended it but, perhaps, time or a
// policy.
func (r *Request) Granted() (granted, live bool) {
	granted = r.has(RequestGranted)
	return granted, granted && !r.has(GrantEnded, RequestMissed)
}

func (r *Request) has(list ...What) bool {
	return slices.ContainsFunc(r.Steps, func(s RequestStep) bool { return slices.Contains(list, s.What) })
}

// Entries returns the positions of all entries of r, in their order.
func (r *Request) Entries() []uint64 {
	list := make([]uint64, 0, len(r.Steps)+1)
	for _, s := range r.Steps {
		list = append(list, s.Seq)
	}
	if r.Used > 0 {
		list = append(list, r.Used)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Asked returns the position of the first entry.
func (r *Request) Asked() uint64 {
	if len(r.Steps) == 0 {
		return r.Used
	}
	return r.Steps[0].Seq
}

// A RequestChange is what an entry says of a request.
type RequestChange struct {
	ID, Call string
	What     What
	Until    time.Time // of RequestAsked and RequestGranted; zero: for ever
}

// Add adds a change in the entry at a position to what is known of the request.
func (r *Request) Add(seq uint64, c *RequestChange) {
	switch c.What {
	case GrantUsed:
		r.Used = seq
		return
	case RequestAsked:
		r.Call, r.Expires = c.Call, c.Until
	case RequestGranted:
		r.Until = c.Until
	}
	r.Steps = append(r.Steps, RequestStep{seq, c.What})
}

// consents is, with a bracket, in every leaf that tells of requests or grants, and seldom in another.
var consents = []byte(`"consent":`)

// tells reports whether a leaf has consents and a bracket. Brackets are few, so that finding them takes a tenth of what looking
// for the text does, in a verification of all entries.
func tells(leaf []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(leaf[at:], '[')
		if n < 0 {
			return false
		}
		if at += n; bytes.HasSuffix(leaf[:at], consents) {
			return true
		}
	}
}

// RequestChanges returns what an entry says of requests; nothing where its leaf cannot be read.
func RequestChanges(e *Entry) (list []RequestChange) {
	if !tells(e.Leaf) {
		return nil
	}
	var r struct {
		Consent []consent.Event `json:"consent"`
	}
	if json.Unmarshal(e.Leaf, &r) != nil {
		return nil
	}
	for i := range r.Consent {
		if c, ok := changeOf(&r.Consent[i]); ok {
			list = append(list, c)
		}
	}
	return list
}

// RequestOf returns the id of the request, or grant, that an event changes, empty for rules that were retired; false
// when it changes nothing.
func RequestOf(e *consent.Event) (id string, ok bool) {
	c, ok := changeOf(e)
	return c.ID, ok
}

// changeOf returns what an event changes; false when that is nothing.
func changeOf(e *consent.Event) (c RequestChange, ok bool) {
	c = RequestChange{ID: cmp.Or(e.Request, e.Grant), Call: e.Call}
	if e.Result != nil && e.Result.Resolution == runtime.ResolutionRejected {
		return c, false
	}
	switch e.Kind {
	case consent.EventAsked:
		if e.Asked == nil {
			return c, false
		}
		c.What, c.Until = RequestAsked, e.Asked.Expires
	case consent.EventReminded:
		c.What = RequestChanged
	case consent.EventAnswered:
		c.What = RequestChanged
		switch {
		case e.Result == nil:
			return c, false
		case e.Result.Granted != nil:
			c.What, c.Until = RequestGranted, e.Result.Granted.Expires
		case e.Result.Status != consent.StatusOpen:
			c.What = RequestEnded
		}
	case consent.EventExpired, consent.EventUsed, consent.EventCancelled:
		c.What = RequestEnded
	case consent.EventMismatch:
		c.What = RequestMissed
		if slices.Equal(e.Changed, []consent.Change{consent.ChangedExpired}) {
			c.What = RequestEnded
		}
	case consent.EventGrantUsed:
		c.What = GrantUsed
	case consent.EventRevoked:
		c.What = GrantEnded
	case consent.EventRetired:
		return RequestChange{What: RulesRetired}, true
	default:
		return c, false
	}
	return c, c.ID != ""
}

// Matches reports whether f wants r, but for the limit.
func (f *RequestFilter) Matches(r *Request) bool {
	if f.Retired || r.ID == "" {
		return f.Retired && r.ID == ""
	}
	begins := func(id, begin string) bool {
		return begin == "" || id == begin || f.Prefix && strings.HasPrefix(id, begin)
	}
	waits := r.Open() && f.At.Before(r.Expires)
	granted, live := r.Granted()
	live = live && (r.Until.IsZero() || f.At.Before(r.Until))
	return begins(r.Session, f.Session) && begins(r.Call, f.Call) && begins(r.ID, f.ID) &&
		(!f.Waiting || waits) && (!f.Ended || !waits) && (!f.Granted || granted) && (!f.Live || live) &&
		r.Asked() < cmp.Or(f.Before, math.MaxUint64)
}
