package approvals

import (
	"crypto/rand"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// Answered reports whether a question needs no approver's answer: a grant answers it, or asking is
// suspended.
func (a *Approvals[C]) Answered(at time.Time, q *consent.Question) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, yes := a.standing(at, q)
	return yes
}

// standing returns the grant that answers a question. The grant is empty while asking is suspended.
// a.mu is held.
func (a *Approvals[C]) standing(at time.Time, q *consent.Question) (grant string, yes bool) {
	if _, off := a.book.IsOff(at); off {
		return "", true
	}
	g, yes := a.book.Match(at, q)
	return g.ID, yes
}

// Full reports whether a session has as many open requests as it may have.
func (a *Approvals[C]) Full(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.full(session)
}

// full is Full while a.mu is held (SEMANTICS 8.1).
func (a *Approvals[C]) full(session string) bool { return a.book.Waiting(session) >= a.cfg.MaxOpen }

// An Asking is the question of a call while no other goroutine changes requests and grants. Begin
// returns it, and End ends it.
type Asking[C any] struct {
	a  *Approvals[C]
	at time.Time
	q  *consent.Question
	ev consent.Event // that makes the request
}

// Begin begins to ask a question at a time, and acquires the lock until End.
func (a *Approvals[C]) Begin(at time.Time, q *consent.Question) Asking[C] {
	a.mu.Lock()
	return Asking[C]{a: a, at: at, q: q}
}

// End releases the lock.
func (k *Asking[C]) End() { k.a.mu.Unlock() }

// Answered reports whether the question needs no answer, and returns the grant that answers it, empty
// while asking is suspended.
func (k *Asking[C]) Answered() (grant string, yes bool) { return k.a.standing(k.at, k.q) }

// Full reports whether the session of the call has as many open requests as it may have.
func (k *Asking[C]) Full() bool { return k.a.full(k.q.Call.Session) }

// Prepare makes the request, which Add adds. The error says that no approver could answer it.
func (k *Asking[C]) Prepare() (err error) {
	k.ev, err = k.a.book.Ask(k.at, rand.Text(), rand.Text(), k.q)
	return err
}

// Add adds the prepared request for a call, which waits for it from now on, and returns the id of
// the request. It removes some old requests (SEMANTICS 5.1).
func (k *Asking[C]) Add(c C) (request string) {
	k.a.prune(k.at)
	k.a.apply(&k.ev)
	k.a.calls[k.ev.Request] = c
	return k.ev.Request
}

// A Mismatch says why an approval or a grant does not allow a call to start.
type Mismatch struct {
	Expired bool     // the approval is too old, and nothing else has changed
	Changed []string // what is not as it was approved
}

// Use uses up the approval of a request for a call that is about to start. q is the call as it will
// run, with what the policy asks about it now; noLongerAsked says that the policy asks nothing any
// more. It returns nil when the call is what was approved (SEMANTICS section 5.2).
func (a *Approvals[C]) Use(at time.Time, request string, q *consent.Question, noLongerAsked bool) *Mismatch {
	a.mu.Lock()
	defer a.mu.Unlock()
	ev, err := a.book.Use(at, request, q, noLongerAsked)
	if err == nil {
		a.apply(&ev)
	}
	if err == nil && ev.Kind != consent.EventMismatch {
		return nil
	}
	m := &Mismatch{Expired: len(ev.Changed) == 1 && ev.Changed[0] == consent.ChangedExpired}
	for _, what := range ev.Changed {
		m.Changed = append(m.Changed, what.String())
	}
	return m
}

// UseGrant records that a call is about to start by a grant. It returns nil when the grant still
// answers q.
func (a *Approvals[C]) UseGrant(at time.Time, grant string, q *consent.Question) *Mismatch {
	a.mu.Lock()
	defer a.mu.Unlock()
	ev, err := a.book.UseGrant(at, grant, q)
	if err != nil {
		return &Mismatch{Changed: []string{"grant"}}
	}
	a.apply(&ev)
	return nil
}

// Cancel ends the request of a call that has ended.
func (a *Approvals[C]) Cancel(request string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ev, ok := a.book.Cancel(a.cfg.Sched.Now(), request); ok {
		a.apply(&ev)
	}
}
