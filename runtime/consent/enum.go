package consent

import "github.com/ambit-tools/ambit/runtime/internal/enum"

// A GrantLifetime says how long an approval lasts.
type GrantLifetime uint8

// The values of Lasting, the shortest first.
const (
	Once        GrantLifetime = iota // this call and no other
	ForDuration                      // a grant that ends
	ForSession                       // a grant that lasts as long as the session
)

// A Rejection says why an answer was rejected.
type Rejection uint8

// The reasons for a rejection, in the order in which they are looked for.
const (
	NotRejected Rejection = iota
	UnknownRequest
	AlreadyResolved
	RequestExpired
	NotPermitted
	SelfApproval
	TermsChanged // an edit proposes other terms than those that the approval is for, or the declaration of the tool is another one
	GrantTooWide
	EditNotAllowed
	InvalidInput // the edited arguments, or the terms of the grant, make no sense
	NotRecorded  // the journal cannot be written: only an executor says so
)

// A Status says where a request stands.
type Status uint8

// The states of a request. It leaves StatusApproved once, by its use.
const (
	StatusOpen      Status = iota // waits for answers
	StatusApproved                // approved and not used yet
	StatusUsed                    // its call was started
	StatusMismatch                // its call was not the approved one any more
	StatusDenied                  // by a person
	StatusExpired                 // ran out
	StatusCancelled               // its call was cancelled
)

// A Change names what is not as it was approved.
type Change uint8

// The changes, in the order in which they are listed.
const (
	ChangedTool Change = iota
	ChangedDeclaration
	ChangedArgs
	ChangedProgram // of a command, for the same arguments
	ChangedPreview
	ChangedPrincipal
	ChangedSession
	ChangedQuestion // other rules ask, or they ask for something else
	ChangedExpired  // not a change: the approval is too old
	ChangedRequest  // the stored request does not fit its own digest
)

// An Op is what a predicate compares by.
type Op uint8

// The values of Op.
const (
	OpEqual   Op = iota // the member is equal to the value
	OpPrefix            // the member is a text that begins with the letters of the value
	OpGreater           // the member is a number above it
	OpBelow             // the member is the path of a file or folder inside of the folder
	OpURL               // the member is the URL, or one below it
	OpAtMost            // the member is a number that is equal or below
	OpAtLeast           // the member is a number that is equal or above
)

// An EventKind says which fact an Event records.
type EventKind uint8

// The kinds of events, each with the method of Book that makes it.
const (
	EventAsked     EventKind = iota + 1 // Ask
	EventAnswered                       // Decide
	EventReminded                       // Due
	EventExpired                        // Due
	EventUsed                           // Use
	EventMismatch                       // Use
	EventCancelled                      // Cancel
	EventGrantUsed                      // UseGrant
	EventRevoked                        // Revoke
	EventRetired                        // Retire
	EventOff                            // Off
)

var (
	lastingNames = [...]string{"once", "duration", "session"}

	rejectionNames = [...]string{
		"", "unknown_request", "already_resolved", "expired", "not_permitted", "self_approval",
		"changed", "grant_too_wide", "edit_not_allowed", "invalid_input", "journal_unavailable",
	}
	statusNames = [...]string{"open", "approved", "used", "mismatch", "denied", "expired", "cancelled"}
	changeNames = [...]string{
		"tool", "declaration", "args", "program", "preview", "principal", "session", "question", "expired", "request",
	}
	opNames    = [...]string{"eq", "prefix", "gt", "below", "url", "le", "ge"}
	opWords    = [...]string{"is", "begins with", "is above", "is below the folder", "is or is below the URL", "is at most", "is at least"}
	eventNames = [...]string{
		"", "asked", "answered", "reminded", "expired", "used", "mismatch", "cancelled", "grant_used", "revoked", "retired", "off",
	}
)

// String returns once, duration or session.
func (l GrantLifetime) String() string { return enum.Name("grant", lastingNames[:], l) }

// MarshalText returns the name of l.
func (l GrantLifetime) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText sets l to the value that text names.
func (l *GrantLifetime) UnmarshalText(text []byte) error {
	return enum.Parse("grant", lastingNames[:], text, l)
}

// String returns the name of r, such as not_permitted; that of NotRejected is empty.
func (r Rejection) String() string { return enum.Name("rejection", rejectionNames[:], r) }

// MarshalText returns the name of r.
func (r Rejection) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText sets r to the rejection that text names.
func (r *Rejection) UnmarshalText(text []byte) error {
	return enum.Parse("rejection", rejectionNames[:], text, r)
}

// String returns the name of s, such as open.
func (s Status) String() string { return enum.Name("status", statusNames[:], s) }

// MarshalText returns the name of s.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the status that text names.
func (s *Status) UnmarshalText(text []byte) error {
	return enum.Parse("status", statusNames[:], text, s)
}

// String returns the name of c, such as question.
func (c Change) String() string { return enum.Name("change", changeNames[:], c) }

// MarshalText returns the name of c.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText sets c to the change that text names.
func (c *Change) UnmarshalText(text []byte) error {
	return enum.Parse("change", changeNames[:], text, c)
}

// Ops lists the comparisons of predicates, in the order of their values.
func Ops() []Op {
	all := make([]Op, len(opNames))
	for i := range all {
		all[i] = Op(i)
	}
	return all
}

// String returns eq, prefix, gt, below, url, le or ge.
func (o Op) String() string { return enum.Name("comparison", opNames[:], o) }

// MarshalText returns the name of o.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText sets o to the comparison that text names.
func (o *Op) UnmarshalText(text []byte) error { return enum.Parse("comparison", opNames[:], text, o) }

// String returns the name of k, such as answered.
func (k EventKind) String() string { return enum.Name("event", eventNames[:], k) }

// MarshalText returns the name of k.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets k to the kind that text names.
func (k *EventKind) UnmarshalText(text []byte) error {
	return enum.Parse("event", eventNames[:], text, k)
}
