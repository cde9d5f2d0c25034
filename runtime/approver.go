package runtime

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// An Approver is notified of requests for consent. It answers through Executor.Decide,
// at any time and from any goroutine or process that can reach the executor.
//
// The executor calls Notify in its own goroutine after the request was recorded. The
// context ends with the request. An error is reported to the error handler. When no
// approver could be notified, and the application does not poll Requests
// (WithPendingRequests), the call is denied consent_unavailable.
type Approver interface {
	Notify(context.Context, *ConsentRequest) error
}

// An ApproverFunc is a function that implements Approver.
type ApproverFunc func(context.Context, *ConsentRequest) error

// Notify calls f.
func (f ApproverFunc) Notify(ctx context.Context, r *ConsentRequest) error { return f(ctx, r) }

// WithApprover adds an approver that is notified of every request for consent.
func WithApprover(a Approver) Option {
	return func(e *Executor) { e.approvers = append(e.approvers, a) }
}

// WithPendingRequests says that the application polls Requests and answers through
// Decide. Calls that need consent then wait even when no approver was notified.
func WithPendingRequests() Option {
	return func(e *Executor) { e.polled = true }
}

// DefaultMaxOpenRequests is how many requests of a session wait for answers at
// once when WithMaxOpenRequests does not say otherwise (SEMANTICS section 8).
const DefaultMaxOpenRequests = 100

// WithMaxOpenRequests sets how many requests of a session may wait for answers at once,
// 100 by default. A call that needs one more is denied too_many_pending. The default is
// wrong when sessions rightly ask for more than their approvers can read at a time,
// such as in a batch that a program approves.
func WithMaxOpenRequests(n int) Option {
	return func(e *Executor) { e.approvals.most = n }
}

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

// A ConsentRequest is a question to approvers, with all that they need to answer it. It
// is shared and must not be changed.
type ConsentRequest struct {
	consent.Request // as it is recorded: sensitive values are masked

	// Shown holds the arguments with which the handler will run, as an approver may
	// see them. Values that the declaration reveals are not masked: do not store
	// Shown. It is nil when the call is over.
	Shown       json.RawMessage
	Title       string
	Description string       // of the tool
	Covers      []GrantCover // what a standing grant may cover, the narrowest first
}

// An Answer is an approver's answer to a request. The zero value denies, without a name.
type Answer struct {
	By        string // an authenticated id
	Approve   bool
	Message   string
	Grant     GrantLifetime // what is granted beyond this call
	For       time.Duration // GrantDuration: from the approval
	Cover     GrantCover    // without effect for GrantOnce
	CoverArgs []Predicate   // CoverArgs: all of them must be met
	Edit      []byte        // JSON: other arguments to run instead; nil: none
}

// A Resolution is the result of an answer.
type Resolution struct {
	Kind    ResolutionKind
	Reason  Rejection // of a rejected answer
	Call    string    // the id of the call that the request is about; empty: there is none
	Outcome *Outcome  // of that call, pending included; nil while it goes on
	State   State     // of that call
	Missing int       // approvals that are still wanted
	Granted *Grant    // the grant that the answer made; nil: none
}

// A GrantFilter selects the grants to list. An empty field matches every grant.
type GrantFilter struct {
	Session, Principal, Tool string

	Live bool // only those that can answer something now
}
