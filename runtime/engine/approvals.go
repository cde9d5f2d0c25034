package engine

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// endedRequestTTL is how long a request that has ended is kept, so that a late answer
// is told the result.
const endedRequestTTL = 24 * time.Hour

// approvals holds the consent requests and the grants of an executor. Its lock is taken
// after the locks of a call and its session.
type approvals struct {
	exec  *Executor
	key   []byte
	noted func(*consent.Event) // gets every change of the book; nil: none is set

	most int // open requests of a session

	mu     sync.Mutex
	book   *consent.Book
	calls  map[string]*call // by request
	timer  runtime.Timer    // runs when something is due
	due    time.Time        // zero: the timer does not run
	closed sched.Event      // happens when this executor no longer changes requests
}

// open prepares d for use.
func (d *approvals) open(e *Executor) {
	d.exec, d.key = e, make([]byte, 32)
	_, _ = rand.Read(d.key) // never fails
	d.book, d.calls = consent.NewBook(d.key), map[string]*call{}
}

// apply changes the book. d.mu is held, so that the book has not changed since ev was made.
func (d *approvals) apply(ev *consent.Event) {
	if err := d.book.Apply(ev); err != nil {
		d.exec.report(&CallError{CallID: ev.Call, Err: err})
		return
	}
	if d.noted != nil {
		d.noted(ev)
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
		d.timer = d.exec.sched.After(d.exec.sched.Until(next), func() { d.tick() })
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

// tick handles everything that is due: it sends reminders and ends requests that have expired. It
// returns the calls of the expired requests. It takes the lock for at most consent.AtOnce requests
// at a time, so that answers and new requests are handled in between.
func (d *approvals) tick() (expired []*call) {
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
		expired = append(expired, tell(due, now)...)
	}
}

// tickOne is tick for one request, so that an answer to it does not wait for the other
// requests that are due.
func (d *approvals) tickOne(request string) {
	now := d.exec.sched.Now()
	d.mu.Lock()
	var due []dueEvent
	if !d.closed.Fired() {
		due = d.applyDue(d.book.DueOf(now, request))
	}
	d.mu.Unlock()
	tell(due, now)
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

// tell sends reminders to calls, ends the calls whose requests have expired, and
// returns the latter.
func tell(due []dueEvent, now time.Time) (expired []*call) {
	for _, n := range due {
		if !n.expired {
			n.call.remind(now)
			continue
		}
		expired = append(expired, n.call)
		e := refusal(runtime.ReasonConsentExpired, runtime.Detail{}, "nobody agreed to the call in time")
		e.cause = lifecycle.ByConsent
		n.call.end(*e)
	}
	return expired
}

// remind emits the event that the request of the call will expire soon.
func (c *call) remind(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Waits() {
		c.transition(runtime.EventApprovalExpiring, c.state, &note{at: now})
	}
}

// Expire ends the requests that have expired and returns the ids of their calls. Timers
// do the same: a caller needs Expire only when the Clock cannot call back.
func (e *Executor) Expire() []string {
	if e == nil {
		return nil
	}
	var ids []string
	for _, c := range e.approvals.tick() {
		ids = append(ids, c.id)
	}
	return ids
}

// answers reports whether the question of c needs no approver's answer.
func (d *approvals) answers(c *call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, yes := d.answer(c)
	return yes
}

// answer returns the grant that answers the question of c. The grant is empty while
// asking is suspended. d.mu is held.
func (d *approvals) answer(c *call) (grant string, yes bool) {
	if _, off := d.book.IsOff(c.now); off {
		return "", true
	}
	g, yes := d.book.Match(c.now, &c.asked.question)
	return g.ID, yes
}

// drop cancels the request of a call that has ended. c.mu is held.
func (d *approvals) drop(c *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ev, ok := d.book.Cancel(d.exec.sched.Now(), c.asked.id); ok {
		d.apply(&ev)
	}
	if c.asked.tell != nil {
		c.asked.tell()
	}
}

// use uses up the approval or the grant that allows the call to start, and checks that
// the call is the one that was approved. It returns the result of a call that is not.
// The locks of the call and its session are held.
func (d *approvals) use(c *call) *result {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := c.asked
	changed := runtime.Detail{Changed: []string{"grant"}}
	var ev consent.Event
	var err error
	switch {
	case a.id != "":
		now := a.question
		now.Call = c.consentCall()
		ev, err = d.book.Use(c.now, a.id, &now, a.unasked)
		changed.Changed = nil
		for _, what := range ev.Changed {
			changed.Changed = append(changed.Changed, what.String())
		}
	case a.grant != "":
		ev, err = d.book.UseGrant(c.now, a.grant, &a.question)
	default: // asking is suspended
		return nil
	}
	if err == nil {
		d.apply(&ev)
	}
	switch {
	case err == nil && ev.Kind != consent.EventMismatch:
		return nil
	case slices.Equal(ev.Changed, []consent.Change{consent.ChangedExpired}):
		return refusal(runtime.ReasonConsentExpired, runtime.Detail{}, "the approval is too old: make the call again")
	}
	return refusal(runtime.ReasonBindingMismatch, changed, "the call is not what was approved any more: make it again")
}

// prunedAtOnce is how many old requests and grants approvals removes when it adds a request.
const prunedAtOnce = 4

// prune removes some of the old requests and grants. d.mu is held.
func (d *approvals) prune(now time.Time) {
	for _, id := range d.book.Prune(now.Add(-endedRequestTTL), prunedAtOnce) {
		delete(d.calls, id)
	}
}
