package consent

import (
	"errors"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// An Answer is what an approver answers to a request. The zero value denies, and
// names no approver.
type Answer struct {
	By      string   // an authenticated id
	Groups  []string // names of its groups, as the component that authenticated it knows them
	Barred  bool     // the operator policy does not let the approver answer
	Approve bool
	// Redeclared says that the tool of the call has another declaration now than when consent was asked for. An approval is
	// rejected then, and changes nothing: under the former declaration it would count.
	Redeclared bool
	Message    string
	// Binding is that of the terms which the approver was shown. An approval of other terms is
	// rejected. The zero one stands for the terms that were asked: it approves no other approver's edit.
	Binding Digest
	Offer   Offer // what is granted beyond this call; for approvals only
	Edit    *Edit // other arguments to run instead; for approvals only
}

// An Edit is the call with the arguments that an approver proposes instead: the
// caller decodes the arguments as strictly as those of a call, has the policy judge
// them, and passes the result here.
type Edit struct {
	Err       error    // why they are no valid input; nil: they are
	Question  Question // the call with its new arguments and preview, and what is asked about it
	Rewritten bool     // the policy changed what the approver wrote: nobody has approved the result yet
}

// Decide makes the event of an answer to a request. Its Result says what becomes
// of the answer, and of the request. An answer is rejected for the first reason
// that applies in the order of Rejection, and then changes nothing.
//
// The caller stores and applies the event before it returns the result to the
// approver. Of two concurrent answers the second event is stale; made again, it is
// AlreadyResolved.
//
// The policy may have been reloaded since the request was made, and asked again
// by the caller: the answer still counts. When the policy now refuses the
// call the caller denies it and applies Cancel; when it asks another question Use
// finds that (SEMANTICS 5.5).
func (b *Book) Decide(at time.Time, id string, a *Answer) Event {
	e := b.event(EventAnswered, at)
	e.Request, e.By, e.Message = id, a.By, a.Message
	e.Result = &Result{Approve: a.Approve}
	r := b.requests[id]
	if r == nil {
		e.Result.Rejection = UnknownRequest
		return e
	}
	e.Call = r.CallID
	e.Result.Status, e.Result.Missing = r.Status, r.Missing()
	proposed := b.proposed(&r.Request, a)
	entry, why := r.refuses(e.At, a, proposed)
	if why == NotRejected && a.Approve && a.Edit != nil {
		entry, why = proposed.refuses(a, r.Principal)
	}
	if why != NotRejected {
		e.Result.Rejection = why
		switch {
		case why == InvalidInput:
			e.Result.Detail = a.Wrong(slices.Concat(r.Masked, proposed.Masked))
		case why == TermsChanged && a.Redeclared:
			e.Result.Detail = redeclared
		}
		return e
	}
	e.Result.Entry = entry
	if !a.Approve {
		e.Result.Resolution, e.Result.Status, e.Result.Missing = runtime.ResolutionAccepted, StatusDenied, 0
		return e
	}
	offer := a.Offer.plain()
	next := r.Request
	if a.Edit != nil && !proposed.same {
		next.Terms, next.Votes = proposed.Terms, nil
		next.bind()
		e.Result.Terms = &next.Terms
	}
	e.Result.Offer, e.Result.Rewritten = &offer, a.Edit != nil && a.Edit.Rewritten
	next.vote(&e)
	e.Result.Resolution, e.Result.Status, e.Result.Missing = runtime.ResolutionRecorded, StatusOpen, next.Missing()
	if e.Result.Missing == 0 {
		e.Result.Resolution, e.Result.Status = runtime.ResolutionAccepted, StatusApproved
		e.Result.Granted = grantOf(&next, next.Votes, e.At)
	}
	return e
}

// refuses returns why a is rejected, as far as the present terms are concerned, or the entry of the
// approvers that admits it (SEMANTICS 5.1, 5.3, 5.4 and 5.5).
func (r *Request) refuses(at time.Time, a *Answer, p proposal) (entry string, why Rejection) {
	switch {
	case r.Status == StatusExpired:
		return "", RequestExpired
	case r.Status != StatusOpen:
		return "", AlreadyResolved
	case !at.Before(r.Expires):
		return "", RequestExpired
	}
	if entry, why = r.Requirement.admit(a.By, a.Groups, r.Principal); why != NotRejected {
		return "", why
	}
	switch {
	case a.Barred:
		return "", NotPermitted
	case !a.Approve:
		return entry, NotRejected
	case a.Redeclared, r.unseen(a) && !p.repeats(a):
		return "", TermsChanged
	case !r.Requirement.grants(&a.Offer):
		return "", GrantTooWide
	case a.Edit != nil && (!r.Requirement.AllowEdit || !r.concerns(&a.Edit.Question.Call)):
		return "", EditNotAllowed
	case a.Edit != nil && a.Edit.Err != nil, a.Offer.check(r.Masked) != nil:
		return "", InvalidInput
	}
	return entry, NotRejected
}

// unseen reports whether a approves terms that its approver was not shown (SEMANTICS 5.2.9).
func (r *Request) unseen(a *Answer) bool {
	if a.Binding != (Digest{}) {
		return a.Binding != r.Binding
	}
	return r.EditedBy != "" && (r.EditedBy != a.By || r.Rewritten)
}

// concerns reports whether c is the call of r but for what may be edited.
func (r *Request) concerns(c *Call) bool {
	return c.key() == grantKey{r.Session, r.Principal, r.Agent, r.Tool} && c.Pin == r.Pin
}

// Wrong returns what is wrong with the offer of a, about a call of which members are masked; empty: nothing is.
func (a *Answer) Wrong(masked []string) string {
	if err := a.Offer.check(masked); err != nil {
		return err.Error()
	}
	return ""
}

// redeclared is what an approver is told of an approval under another declaration (SEMANTICS 5.8.2).
const redeclared = "the declaration of the tool has changed since consent was asked for: an approval counts under the former one"

var (
	errOffer  = errors.New("the terms of the grant make no sense")
	errHidden = errors.New("a condition of the grant compares a sensitive member")
)

// check returns what is wrong with o (SEMANTICS 5.9).
func (o *Offer) check(masked []string) error {
	switch {
	case o.Lasting > ForSession || o.Cover > runtime.CoverTool || o.Lasting == ForDuration && o.For <= 0:
		return errOffer
	case o.Lasting == Once || o.Cover != runtime.CoverArgs:
		return nil
	case hides(o.Where, masked):
		return errHidden
	}
	for i := range o.Where {
		if err := o.Where[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// plain returns o without what has no effect (SEMANTICS 5.3).
func (o *Offer) plain() Offer {
	p := *o
	if p.Lasting == Once {
		return Offer{}
	}
	if p.Lasting != ForDuration {
		p.For = 0
	}
	p.Where = p.predicates()
	return p
}

// A proposal is the terms that an edit asks about instead. The zero value is that of an answer without one.
type proposal struct {
	Terms
	same    bool // they are the present terms: the edit changes nothing
	invalid bool // there are no such terms
}

// repeats reports whether a writes the present terms itself, which its approver has therefore seen.
func (p *proposal) repeats(a *Answer) bool { return p.same && !a.Edit.Rewritten }

// proposed returns the terms that a proposes, which are not bound yet (SEMANTICS 5.2.7).
func (b *Book) proposed(r *Request, a *Answer) (p proposal) {
	if a.Edit == nil || a.Edit.Err != nil || !a.Approve {
		return p
	}
	q := a.Edit.Question
	if holdsMask(q.Call.Args) {
		return proposal{invalid: true}
	}
	if len(q.rules()) == 0 { // of the new arguments nothing is asked: what was asked still holds
		q.Reasons, q.Requirement, q.Obligations, q.Call.Revision = r.Reasons, r.Requirement, r.Obligations, r.Revision
	}
	var err error
	if p.Terms, err = b.terms(&q); err != nil {
		return proposal{invalid: true}
	}
	p.EditedBy, p.Rewritten, p.Written = a.By, a.Edit.Rewritten, !a.Edit.Rewritten
	p.same = p.asks(&r.Terms)
	return p
}

// refuses returns why a may not propose p for a principal: the approver that proposes terms must be permitted to
// approve them. entry is that of their approvers (SEMANTICS 5.7).
func (p *proposal) refuses(a *Answer, principal string) (entry string, why Rejection) {
	if p.invalid {
		return "", InvalidInput
	}
	switch entry, why = p.Requirement.admit(a.By, a.Groups, principal); {
	case why != NotRejected:
		return "", why
	case !p.Requirement.grants(&a.Offer):
		return "", GrantTooWide
	case a.Offer.check(p.Masked) != nil:
		return "", InvalidInput
	}
	return entry, NotRejected
}

// vote adds the approval of e to r, unless it repeats one, or approves what its approver has not seen: the policy has, or may
// have, rewritten it (SEMANTICS 5.2.7 and 5.5).
func (r *Request) vote(e *Event) {
	unseen := e.Result.Rewritten || e.Result.Terms != nil && e.Result.Terms.former() && e.Result.Status == StatusOpen
	if unseen || r.voted(e.By) {
		return
	}
	votes := make([]Vote, len(r.Votes), len(r.Votes)+1)
	copy(votes, r.Votes)
	r.Votes = append(votes, Vote{By: e.By, Entry: e.Result.Entry, At: e.At, Message: e.Message, Offer: *e.Result.Offer})
}
