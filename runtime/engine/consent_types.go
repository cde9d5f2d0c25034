package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// Parts of requests and answers, which package consent defines.
type (
	// A Grant is a standing consent.
	Grant = consent.Grant
	// A GrantLifetime says how long an approval lasts.
	GrantLifetime = consent.GrantLifetime
	// A Predicate is met by arguments in which one member compares to a value.
	Predicate = consent.Predicate
	// A ResolutionKind is the result of an answer.
	ResolutionKind = consent.Resolution
	// A Rejection says why an answer was rejected.
	Rejection = consent.Rejection
)

// How long an approval lasts.
const (
	GrantOnce     = consent.Once        // this call and no other
	GrantDuration = consent.ForDuration // a grant that ends
	GrantSession  = consent.ForSession  // a grant that lasts as long as the session
)

// The results of an answer.
const (
	AnswerRejected = consent.Rejected // not a valid answer: the request is as it was
	AnswerRecorded = consent.Recorded // valid, and the quorum wants more answers
	AnswerAccepted = consent.Accepted // it settled the request
)

// An Answer is an approver's answer to a request. The zero value denies, without a name.
type Answer struct {
	By        string // an authenticated id
	Approve   bool
	Message   string
	Grant     GrantLifetime      // what is granted beyond this call
	For       time.Duration      // GrantDuration: from the approval
	Cover     runtime.GrantCover // without effect for GrantOnce
	CoverArgs []Predicate        // CoverArgs: all of them must be met
	Edit      []byte             // JSON: other arguments to run instead; nil: none
	NoWait    bool               // Decide does not wait for the outcome of the call
}

// A Resolution is the result of an answer.
type Resolution struct {
	Kind    ResolutionKind
	Reason  Rejection        // of a rejected answer
	Call    string           // the id of the call that the request is about; empty: there is none
	Outcome *runtime.Outcome // of that call, pending included; nil while it continues
	State   runtime.State    // of that call
	Missing int              // approvals that are still wanted
	Granted *Grant           // the grant that the answer made; nil: none
}

// A GrantFilter selects the grants to list. An empty field matches every grant.
type GrantFilter struct {
	ID, Session, Principal, Tool string

	Live bool // only those that can answer something now
}
