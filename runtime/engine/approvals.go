package engine

import (
	"crypto/rand"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// endedRequestTTL is how long a request that has ended is retained, so that a late answer gets the
// result.
const endedRequestTTL = 24 * time.Hour

// approvals holds the consent requests and the grants of an executor.
type approvals struct {
	exec           *Executor
	key            []byte
	onConsentEvent func(*consent.Event) // gets every change of the book; nil: none is set

	onDue   func([]dueEvent, time.Time) (expired []*call) // what the timer does with what is due
	maxOpen int                                           // open requests of a session

	mu     lockorder.Mutex[lockorder.Approvals]
	book   *consent.Book
	calls  map[string]*call // by request
	timer  runtime.Timer    // runs when something is due
	due    time.Time        // zero: the timer does not run
	closed sched.Event      // fires when this executor no longer changes requests
}

// open prepares d for use.
func (d *approvals) open(e *Executor, tell func([]dueEvent, time.Time) []*call) {
	d.exec, d.onDue, d.key = e, tell, make([]byte, 32)
	_, _ = rand.Read(d.key) // never fails
	d.book, d.calls = consent.NewBook(d.key), map[string]*call{}
}

// apply changes the book. d.mu is held, so that the book has not changed since ev was made.
func (d *approvals) apply(ev *consent.Event) {
	if err := d.book.Apply(ev); err != nil {
		d.exec.report(&CallError{CallID: ev.Call, Err: err})
		return
	}
	if d.onConsentEvent != nil {
		d.onConsentEvent(ev)
	}
	d.exec.log.ConsentChanged(ev)
	d.arm()
}

// arm sets the timer to the next time at which a request or a grant is due. d.mu is held.
func (d *approvals) arm() {
	if d.closed.Fired() {
		return
	}
	next, ok := d.book.Next()
	switch {
	case !ok:
		if d.timer != nil && !d.due.IsZero() {
			d.timer.Stop()
		}
		d.due = time.Time{}
	case d.timer == nil:
		d.due = next
		d.timer = d.exec.sched.After(d.exec.sched.Until(next), func() { d.processDue() })
	case !d.due.Equal(next):
		d.due = next
		d.timer.Reset(d.exec.sched.Until(next))
	}
}

// A dueEvent says that the request of a call has expired, or that its reminder is due.
type dueEvent struct {
	call    *call
	expired bool
}

// processDue handles everything that is due: it sends reminders and ends requests that have expired.
// It returns the calls of the expired requests. It takes the lock for at most consent.AtOnce
// requests at a time, so that answers and new requests are handled in between.
func (d *approvals) processDue() (expired []*call) {
	for now := d.exec.sched.Now(); ; {
		d.mu.Lock()
		if d.book == nil || d.closed.Fired() {
			d.mu.Unlock()
			return expired
		}
		events := d.book.Due(now)
		due := d.applyDue(events)
		if len(events) == 0 {
			d.due = time.Time{}
			if d.timer != nil {
				d.timer.Stop()
				d.arm()
			}
		}
		d.mu.Unlock()
		if len(events) == 0 {
			return expired
		}
		expired = append(expired, d.onDue(due, now)...)
	}
}

// processDueOf is processDue for one request. An answer to that request then does not wait for the
// other requests that are due.
func (d *approvals) processDueOf(request string) {
	now := d.exec.sched.Now()
	d.mu.Lock()
	var due []dueEvent
	if !d.closed.Fired() {
		due = d.applyDue(d.book.DueOf(now, request))
	}
	d.mu.Unlock()
	d.onDue(due, now)
}

// applyDue applies events that are due. d.mu is held.
func (d *approvals) applyDue(events []consent.Event) []dueEvent {
	due := make([]dueEvent, 0, len(events))
	for i := range events {
		if c := d.calls[events[i].Request]; c != nil { // else its tool is gone, or takes other arguments: recovery ends the call
			due = append(due, dueEvent{c, events[i].Kind == consent.EventExpired})
		}
		d.apply(&events[i])
	}
	return due
}

// needsNoAnswer reports whether the question of c needs no approver's answer.
func (d *approvals) needsNoAnswer(c *call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, yes := d.standingConsent(c)
	return yes
}

// standingConsent returns the grant that answers the question of c. The grant is empty while
// asking is suspended. d.mu is held.
func (d *approvals) standingConsent(c *call) (grant string, yes bool) {
	if _, off := d.book.IsOff(c.now); off {
		return "", true
	}
	g, yes := d.book.Match(c.now, &c.consent.question)
	return g.ID, yes
}

// drop cancels the request of a call that has ended. c.mu is held.
func (d *approvals) drop(c *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ev, ok := d.book.Cancel(d.exec.sched.Now(), c.consent.id); ok {
		d.apply(&ev)
	}
	if c.consent.cancelNotify != nil {
		c.consent.cancelNotify()
	}
}

// prunedAtOnce is how many old requests and grants approvals removes when it adds a request.
const prunedAtOnce = 4

// prune removes some of the old requests and grants. d.mu is held.
func (d *approvals) prune(now time.Time) {
	for _, id := range d.book.Prune(now.Add(-endedRequestTTL), prunedAtOnce) {
		delete(d.calls, id)
	}
}

// request returns a request from the book.
func (d *approvals) request(id string) (consent.Request, bool) {
	if id == "" {
		return consent.Request{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.book.Request(id)
}

// call returns the call of a request, nil when there is none.
func (d *approvals) call(request string) *call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[request]
}
