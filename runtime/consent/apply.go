package consent

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// Apply adds an event to b. It does not check again what the method that made the
// event has checked. An error says that the event cannot follow those before it, and
// leaves b as it was; it is ErrStale for one that was made of an older state (SEMANTICS 5.1).
func (b *Book) Apply(e *Event) error {
	if e.Seq != b.seq+1 {
		return ErrStale
	}
	if err := b.apply(e); err != nil {
		return fmt.Errorf("event %d, %s: %w", e.Seq, e.Kind, err)
	}
	b.seq++
	return nil
}

// Continue is Apply for an event that was recorded. One that b has already, because a snapshot held what it
// changes, is skipped.
func (b *Book) Continue(e *Event) error {
	if e.Seq <= b.seq {
		return nil
	}
	if err := b.apply(e); err != nil {
		return fmt.Errorf("event %d, %s: %w", e.Seq, e.Kind, err)
	}
	b.seq = e.Seq
	return nil
}

func (b *Book) apply(e *Event) error {
	switch e.Kind {
	case EventAsked:
		return b.applyAsked(e)
	case EventAnswered:
		return b.applyAnswer(e)
	case EventReminded, EventExpired, EventUsed, EventMismatch, EventCancelled:
		return b.applyRequest(e)
	case EventGrantUsed, EventRevoked:
		return b.applyGrant(e)
	case EventRetired:
		b.retire(e)
		return nil
	case EventOff:
		b.pause = Pause{Since: e.At, Until: e.Until, By: e.By, Reason: e.Message}
		return nil
	}
	return fmt.Errorf("there is no such event")
}

// applyAsked adds a request.
func (b *Book) applyAsked(e *Event) error {
	if e.Asked == nil || e.Asked.ID != e.Request || b.requests[e.Request] != nil {
		return fmt.Errorf("it does not make a new request %q", e.Request)
	}
	r := &request{Request: *e.Asked, number: e.Seq}
	b.requests[r.ID] = r
	heap.Push(&b.open, r)
	b.waiting[r.Session]++
	return nil
}

// applyAnswer applies the result of an answer (SEMANTICS 5.1, 5.2 and 5.5).
func (b *Book) applyAnswer(e *Event) error {
	if e.Result == nil {
		return fmt.Errorf("it has no result")
	}
	if e.Result.Resolution == runtime.ResolutionRejected {
		return nil
	}
	r := b.requests[e.Request]
	switch {
	case r == nil || r.Status != StatusOpen:
		return fmt.Errorf("request %q is not open", e.Request)
	case e.Result.Approve && e.Result.Offer == nil:
		return fmt.Errorf("an approval of request %q says nothing of a grant", e.Request)
	}
	var g *grant
	if granted := e.Result.Granted; granted != nil {
		where, err := compileAll(granted.Where)
		if err != nil || b.grants[granted.ID] != nil {
			return fmt.Errorf("it does not make a new grant %q", granted.ID)
		}
		g = &grant{Grant: *granted, where: where, number: e.Seq, after: e.After}
	}
	if e.Result.Approve {
		if e.Result.Terms != nil {
			r.Terms, r.Votes = *e.Result.Terms, nil
			r.Rewritten = r.Rewritten || r.former()
		}
		r.vote(e)
	}
	if e.Result.Status != StatusOpen {
		b.end(r, e.Result.Status)
	}
	if g != nil {
		b.grants[g.ID] = g
		b.put(g)
		if !g.Expires.IsZero() {
			b.age(g.ID, g.Expires)
		}
	}
	return nil
}

// end closes r to answers (SEMANTICS 8.1).
func (b *Book) end(r *request, s Status) {
	if r.Status == StatusOpen {
		heap.Remove(&b.open, r.place)
		if b.waiting[r.Session]--; b.waiting[r.Session] == 0 {
			delete(b.waiting, r.Session)
		}
	}
	if r.Status = s; s > StatusApproved {
		b.age(r.ID, r.Expires)
	}
}

// applyRequest applies an event that changes a request without an answer (SEMANTICS 5.2 and 5.4).
func (b *Book) applyRequest(e *Event) error {
	r := b.requests[e.Request]
	status := StatusOpen
	if r != nil {
		status = r.Status
	}
	approved := e.Kind == EventUsed || e.Kind == EventMismatch
	switch {
	case r == nil:
		return fmt.Errorf("request %q is not known", e.Request)
	case approved && status != StatusApproved,
		!approved && status != StatusOpen && (e.Kind != EventCancelled || status != StatusApproved):
		return fmt.Errorf("request %q is %s", e.Request, status)
	}
	switch e.Kind {
	case EventReminded:
		r.reminded = true
		heap.Fix(&b.open, r.place)
	case EventExpired:
		b.end(r, StatusExpired)
	case EventUsed:
		b.end(r, StatusUsed)
	case EventMismatch:
		b.end(r, StatusMismatch)
		b.takeBack(e)
	case EventCancelled:
		b.end(r, StatusCancelled)
	}
	return nil
}

// takeBack revokes the grant that came with an approval, when the call did not match
// what was approved, so that the next call asks again. The grant stays when the
// approval had only expired.
func (b *Book) takeBack(e *Event) {
	g := b.grants[e.Request]
	if g == nil || !g.Revoked.IsZero() || slices.Equal(e.Changed, []Change{ChangedExpired}) {
		return
	}
	g.Revoked = e.At
	b.age(g.ID, e.At)
}

// applyGrant uses or revokes a grant (SEMANTICS 5.3).
func (b *Book) applyGrant(e *Event) error {
	g := b.grants[e.Grant]
	if e.Kind == EventRevoked && e.Result != nil && e.Result.Resolution == runtime.ResolutionRejected {
		return nil
	}
	if g == nil && b.pruned { // by a clock that was set back since: it ended long ago
		return nil
	}
	if g == nil || !g.Revoked.IsZero() {
		return fmt.Errorf("grant %q is not known, or was revoked", e.Grant)
	}
	if e.Kind == EventGrantUsed {
		g.Uses = max(g.Uses+1, e.Uses) // a reader of an index applies the last of these events alone
		return nil
	}
	g.Revoked, g.RevokedBy = e.At, e.By
	b.age(g.ID, e.At)
	return nil
}

// retire removes the retired rules from the grants.
func (b *Book) retire(e *Event) {
	b.lastRetired = e.Seq
	for _, r := range e.Retired {
		b.retired[r] = retirement{e.Seq, e.At}
	}
	b.retireHere(e)
}

// retireHere removes the retired rules from the grants of b that were given before. The event may be that
// of another book.
func (b *Book) retireHere(e *Event) {
	for _, g := range b.granted() {
		if g.after < e.Seq {
			b.retireGrant(g, e.At, e.Retired)
		}
	}
}

// retireGrant removes retired rules from a grant.
func (b *Book) retireGrant(g *grant, at time.Time, retired []Rule) {
	left := slices.DeleteFunc(slices.Clone(g.Rules), func(code string) bool {
		return slices.Contains(retired, Rule{Tool: g.Tool, Code: code})
	})
	if len(left) == 0 && len(g.Rules) > 0 {
		g.retired = at
		b.age(g.ID, at)
	}
	g.Rules = left
}
