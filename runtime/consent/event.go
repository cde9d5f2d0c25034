package consent

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// An Event is one fact. A Book is what its events, applied in order, make of a
// new one. Events hold no sensitive argument, revealed or not.
type Event struct {
	Seq     uint64    `json:"seq"` // grows by one; an event with another number than the next was made of another state
	Kind    EventKind `json:"kind"`
	At      time.Time `json:"at"`
	Request string    `json:"request,omitempty"`
	Call    string    `json:"call,omitempty"`
	Grant   string    `json:"grant,omitempty"`
	By      string    `json:"by,omitempty"`
	Message string    `json:"message,omitempty"`

	Asked   *Request `json:"asked,omitempty"`   // EventAsked
	Result  *Result  `json:"result,omitempty"`  // EventAnswered, EventRevoked
	Changed []Change `json:"changed,omitempty"` // EventMismatch
	// Revision is that of the policy which judged the call last, for EventUsed and
	// EventMismatch, where it is not that of the request.
	Revision string    `json:"revision,omitempty"`
	Retired  []Rule    `json:"retired,omitempty"` // EventRetired
	Until    time.Time `json:"until,omitzero"`    // EventOff
	// Uses is how many calls the grant has started, this one included, of EventGrantUsed.
	Uses int `json:"uses,omitempty"`
	// After is the number of the latest event that retired rules, of an answer that gives a grant: those
	// that retire later concern the grant, wherever its session is kept by then.
	After uint64 `json:"after,omitempty"`
}

// Ends returns how the event ends the wait of a request for answers; false when it does not. A request
// that is approved is used, or ends otherwise, later.
func (e *Event) Ends() (Status, bool) {
	switch {
	case e.Kind == EventAnswered && e.Result != nil && e.Result.Resolution == runtime.ResolutionAccepted:
		return e.Result.Status, true
	case e.Kind == EventExpired:
		return StatusExpired, true
	case e.Kind == EventCancelled:
		return StatusCancelled, true
	}
	return StatusOpen, false
}

// rejects reports whether the event is about an answer or a revocation that changes nothing.
func (e *Event) rejects() bool {
	return e.Result != nil && e.Result.Resolution == runtime.ResolutionRejected
}

// A Result says what an answer does.
type Result struct {
	Resolution runtime.Resolution `json:"resolution"`
	Rejection  Rejection          `json:"reason,omitzero"`
	Detail     string             `json:"detail,omitempty"` // of InvalidInput: what is wrong with the terms of the grant, without their values; of TermsChanged: that it is the declaration
	Approve    bool               `json:"approve"`
	Offer      *Offer             `json:"offer,omitempty"`     // of a valid approval
	Terms      *Terms             `json:"terms,omitempty"`     // of a valid approval that edits; nil: it leaves the terms as they are
	Rewritten  bool               `json:"rewritten,omitempty"` // the policy changed what the approver wrote: the answer approves nothing
	Status     Status             `json:"status,omitempty"`    // of the request afterwards
	Missing    int                `json:"missing,omitempty"`
	Granted    *Grant             `json:"granted,omitempty"` // the grant that it makes; nil: none
	Entry      string             `json:"entry,omitempty"`   // of the approvers, the group that admitted a valid answer; empty: its id did
}

// A Rule is a rule that asks about calls of a tool.
type Rule struct {
	Tool string `json:"tool"`
	Code string `json:"code"`
}

// event returns the next event of b, with the instant in the form that decoding returns.
func (b *Book) event(kind EventKind, at time.Time) Event {
	return Event{Seq: b.seq + 1, Kind: kind, At: plain(at)}
}

// plain returns an instant without a monotonic reading or a zone.
func plain(at time.Time) time.Time { return at.Round(0).UTC() }
