package runtime

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// memory is for how long requests that ended are remembered, so that late
// answers are told what became of them.
const memory = 24 * time.Hour

// A approvals keeps the requests for consent and the grants of an executor. Its lock
// is taken after those of a call and its session.
type approvals struct {
	exec  *Executor
	key   []byte
	noted func(*consent.Event) // nil: nobody is told of changes of the book

	most int // open requests of a session

	mu     sync.Mutex
	book   *consent.Book
	calls  map[string]*call // by request
	timer  Timer            // runs when something is due
	due    time.Time        // zero: the timer does not run
	closed signal           // happens when nothing becomes of requests here any more
}

// open makes d ready.
func (d *approvals) open(e *Executor) {
	d.exec, d.key = e, make([]byte, 32)
	_, _ = rand.Read(d.key) // never fails
	d.book, d.calls = consent.NewBook(d.key), map[string]*call{}
}

// apply changes the book. d.mu is held: events do not get stale.
func (d *approvals) apply(ev *consent.Event) {
	if err := d.book.Apply(ev); err != nil {
		d.exec.report(&CallError{CallID: ev.Call, Err: err})
		return
	}
	if d.noted != nil {
		d.noted(ev)
	}
	d.exec.log.consentChanged(ev)
	d.arm()
}

// arm sees to it that the timer runs when something will be due. d.mu is held.
func (d *approvals) arm() {
	if d.closed.happened() {
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
		d.timer = d.exec.after(d.exec.until(next), func() { d.tick() })
	case !d.due.Equal(next):
		d.due = next
		d.timer.Reset(d.exec.until(next))
	}
}

// A dueEvent is what time has brought to the request of a call.
type dueEvent struct {
	call    *call
	expired bool
}

// tick does what time has brought: reminders, and the ends of requests that ran
// out. It returns the calls of these. The lock is taken for at most consent.AtOnce
// requests at a time, so that answers and new requests come in between.
func (d *approvals) tick() (expired []*call) {
	for now := d.exec.now(); ; {
		d.mu.Lock()
		if d.book == nil || d.closed.happened() {
			d.mu.Unlock()
			return expired
		}
		events := d.book.Due(now)
		due := d.occur(events)
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

// tickOne is tick for one request: an answer to it does not wait for the other
// requests that are due.
func (d *approvals) tickOne(request string) {
	now := d.exec.now()
	d.mu.Lock()
	var due []dueEvent
	if !d.closed.happened() {
		due = d.occur(d.book.DueOf(now, request))
	}
	d.mu.Unlock()
	tell(due, now)
}

// occur applies events that time has brought. d.mu is held.
func (d *approvals) occur(events []consent.Event) []dueEvent {
	due := make([]dueEvent, 0, len(events))
	for i := range events {
		if c := d.calls[events[i].Request]; c != nil { // else its tool is gone, or takes other arguments: recovery ends the call
			due = append(due, dueEvent{c, events[i].Kind == consent.EventExpired})
		}
		d.apply(&events[i])
	}
	return due
}

// tell tells calls what time has brought, and returns the calls whose requests ran out.
func tell(due []dueEvent, now time.Time) (expired []*call) {
	for _, n := range due {
		if !n.expired {
			n.call.remind(now)
			continue
		}
		expired = append(expired, n.call)
		n.call.end(*refusal(ReasonConsentExpired, Detail{}, "nobody agreed to the call in time"))
	}
	return expired
}

// remind says that the request of the call will run out soon.
func (c *call) remind(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ending && c.phase == phaseWaiting {
		c.transition(EventApprovalExpiring, c.state, &note{at: now})
	}
}

// Expire ends the requests that have run out and returns the ids of their
// calls. Timers do so too: it need only be called when the clock cannot.
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

// answers reports whether the question of c needs nobody's answer any more.
func (d *approvals) answers(c *call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, yes := d.answer(c)
	return yes
}

// answer returns the grant that answers the question of c; it is empty when
// nobody is asked at present. d.mu is held.
func (d *approvals) answer(c *call) (grant string, yes bool) {
	if _, off := d.book.IsOff(c.now); off {
		return "", true
	}
	g, yes := d.book.Match(c.now, &c.asked.question)
	return g.ID, yes
}

// drop forgets the request of a call that has ended. c.mu is held.
func (d *approvals) drop(c *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ev, ok := d.book.Cancel(d.exec.now(), c.asked.id); ok {
		d.apply(&ev)
	}
	if c.asked.tell != nil {
		c.asked.tell()
	}
}

// use uses up what allows the call to start, and checks that it is what was
// approved; the ending is that of a call that is not. The call's and its session's locks
// are held.
func (d *approvals) use(c *call) *result {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := c.asked
	changed := Detail{Changed: []string{"grant"}}
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
	default: // nobody is asked at present
		return nil
	}
	if err == nil {
		d.apply(&ev)
	}
	switch {
	case err == nil && ev.Kind != consent.EventMismatch:
		return nil
	case slices.Equal(ev.Changed, []consent.Change{consent.ChangedExpired}):
		return refusal(ReasonConsentExpired, Detail{}, "the approval is too old: make the call again")
	}
	return refusal(ReasonBindingMismatch, changed, "the call is not what was approved any more: make it again")
}

// prunedAtOnce is how much of what is old a new request makes the desk forget.
const prunedAtOnce = 4

// prune forgets some of what is old. d.mu is held.
func (d *approvals) prune(now time.Time) {
	for _, id := range d.book.Prune(now.Add(-memory), prunedAtOnce) {
		delete(d.calls, id)
	}
}
