package approvals

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// Decide resolves a request by an answer, in one step. The event says how, also when the answer is
// rejected.
func (a *Approvals[C]) Decide(at time.Time, request string, answer *consent.Answer) consent.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	ev := a.book.Decide(at, request, answer)
	shorten(&ev)
	a.apply(&ev)
	return ev
}

// maxSaid is how many bytes are recorded of the message of an attempt that is rejected.
const maxSaid = 1 << 10

// shorten cuts the texts of an attempt that is rejected: whoever may not answer writes little.
func shorten(ev *consent.Event) {
	if ev.Result.Resolution == runtime.ResolutionRejected {
		ev.Request, ev.Grant = wording.Cut(ev.Request, wording.MaxName), wording.Cut(ev.Grant, wording.MaxName)
		ev.Message = wording.Cut(ev.Message, maxSaid)
	}
}

// Probe returns a request and why an answer to it would be rejected. It changes nothing.
func (a *Approvals[C]) Probe(at time.Time, request string, answer *consent.Answer) (consent.Request, consent.Rejection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, _ := a.book.Request(request)
	ev := a.book.Decide(at, request, answer)
	return r, ev.Result.Rejection
}

// ApprovedBy returns who approved a request, or who gave a grant where there is no request. It is
// nil for a request or a grant that is not known any more.
func (a *Approvals[C]) ApprovedBy(request, grant string) (by []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r, ok := a.book.Request(request); ok {
		for _, v := range r.Votes {
			by = append(by, v.By)
		}
		return by
	}
	g, _ := a.book.Grant(grant)
	return g.Grantors
}

// Grant returns a grant, live or not.
func (a *Approvals[C]) Grant(id string) (consent.Grant, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Grant(id)
}

// Grants returns the grants that match reports true for, in the order in which they were given. It
// calls match under the lock.
func (a *Approvals[C]) Grants(match func(*consent.Grant) bool) (list []consent.Grant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range a.book.Grants() {
		if match(&g) {
			list = append(list, g)
		}
	}
	return list
}

// Revoke takes a grant back. The event says whether it could be.
func (a *Approvals[C]) Revoke(at time.Time, grant, by, reason string) consent.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	ev := a.book.Revoke(at, grant, by, reason)
	shorten(&ev)
	a.apply(&ev)
	return ev
}

// ProbeRevoke returns why a grant could not be taken back. It changes nothing.
func (a *Approvals[C]) ProbeRevoke(at time.Time, grant, by string) consent.Rejection {
	a.mu.Lock()
	defer a.mu.Unlock()
	ev := a.book.Revoke(at, grant, by, "")
	return ev.Result.Rejection
}

// End cancels the requests of a session and ends its grants.
func (a *Approvals[C]) End(at time.Time, session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ev := range a.book.End(at, session) {
		a.apply(&ev)
	}
}

// Retire ends the grants whose rules are not known. It reports false when there are none (SEMANTICS 5.7).
func (a *Approvals[C]) Retire(at time.Time, known func(consent.Rule) bool) (ev consent.Event, some bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ev, some = a.book.Retire(at, known); some {
		a.apply(&ev)
	}
	return ev, some
}

// Suspend answers all questions until an instant. The error says why that is not permitted.
func (a *Approvals[C]) Suspend(at, until time.Time, by, reason string) (ev consent.Event, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ev, err = a.book.Off(at, until, by, reason); err == nil {
		a.apply(&ev)
	}
	return ev, err
}
