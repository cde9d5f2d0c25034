package action

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// An Answer is an approver's answer to a request. The zero value denies, without a name.
type Answer struct {
	By        runtime.Actor // as the component that authenticated it says
	Approve   bool
	Message   string
	Binding   consent.Digest        // of the request as it was shown: an edit since rejects the approval. Zero: approves no edit of another approver
	Grant     consent.GrantLifetime // what is granted beyond this call
	For       time.Duration         // consent.ForDuration: from the approval
	Cover     runtime.GrantCover    // without effect for consent.Once
	CoverArgs []consent.Predicate   // CoverArgs: all of them must be met
	Edit      []byte                // JSON: other arguments to run instead; nil: none
	NoWait    bool                  // Decide does not wait for the outcome of the call
}

// A Resolution is the result of an answer.
type Resolution struct {
	Kind    runtime.Resolution
	Reason  consent.Rejection // of a rejected answer
	Detail  string            // of consent.InvalidInput: what is wrong with the terms of the grant; of consent.TermsChanged: that the declaration has changed; empty: nothing is
	Call    string            // the id of the call that the request is about; empty: there is none
	Outcome *runtime.Outcome  // of that call, pending included; nil while it continues
	State   runtime.State     // of that call
	Missing int               // approvals that are still wanted
	Granted *consent.Grant    // the grant that the answer made; nil: none

	// Rewritten says that the policy changed the edit of the answer, which therefore approves nothing. The request asks
	// about what the policy made of it; an approval of that names its binding.
	Rewritten bool
}

// A GrantFilter selects the grants to list. An empty field matches every grant.
type GrantFilter struct {
	ID, Session, Principal, Tool string

	Live bool // only those that can answer something now
}

// Matches reports whether a grant is selected at an instant.
func (f GrantFilter) Matches(g *consent.Grant, now time.Time) bool {
	fits := func(want, is string) bool { return want == "" || want == is }
	return fits(f.ID, g.ID) && fits(f.Session, g.Session) && fits(f.Principal, g.Principal) && fits(f.Tool, g.Tool) &&
		(!f.Live || g.Live(now))
}
