package approvals

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// arm sets the timer to the next time at which a request or a grant is due. a.mu is held.
func (a *Approvals[C]) arm() {
	if a.closed.Fired() {
		return
	}
	next, ok := a.book.Next()
	switch {
	case !ok:
		if a.timer != nil && !a.due.IsZero() {
			a.timer.Stop()
		}
		a.due = time.Time{}
	case a.timer == nil:
		a.due = next
		a.timer = a.cfg.Sched.After(a.cfg.Sched.Until(next), func() { a.ProcessDue() })
	case !a.due.Equal(next):
		a.due = next
		a.timer.Reset(a.cfg.Sched.Until(next))
	}
}

// ProcessDue handles everything that is due, as the timer does, and returns the calls of the requests
// that have expired. It takes the lock for at most consent.AtOnce requests at a time, so that answers
// and new requests are handled in between.
func (a *Approvals[C]) ProcessDue() (expired []C) {
	if a.cfg.Sched == nil { // of an executor that was never opened
		return nil
	}
	for now := a.cfg.Sched.Now(); ; {
		due, more := a.takeDue(now)
		if !more {
			return expired
		}
		a.cfg.Due(due, now)
		for _, d := range due {
			if d.Expired {
				expired = append(expired, d.Call)
			}
		}
	}
}

// takeDue applies what is due first. It reports false when nothing is.
func (a *Approvals[C]) takeDue(now time.Time) (due []Due[C], more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed.Fired() {
		return nil, false
	}
	events := a.book.Due(now)
	if len(events) > 0 {
		return a.applyDue(events), true
	}
	a.due = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
		a.arm()
	}
	return nil, false
}

// ProcessDueOf is ProcessDue for one request. An answer to that request then does not wait for the
// other requests that are due.
func (a *Approvals[C]) ProcessDueOf(request string) {
	now := a.cfg.Sched.Now()
	a.mu.Lock()
	var due []Due[C]
	if !a.closed.Fired() {
		due = a.applyDue(a.book.DueOf(now, request))
	}
	a.mu.Unlock()
	a.cfg.Due(due, now)
}

// applyDue applies events that are due. a.mu is held.
func (a *Approvals[C]) applyDue(events []consent.Event) []Due[C] {
	due := make([]Due[C], 0, len(events))
	for i := range events {
		if c, ok := a.calls[events[i].Request]; ok { // else its tool is gone, or takes other arguments: recovery ends the call
			due = append(due, Due[C]{c, events[i].Kind == consent.EventExpired})
		}
		a.apply(&events[i])
	}
	return due
}
