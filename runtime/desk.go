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

// A desk keeps the requests for consent and the grants of an executor. Its lock
// is taken after those of a call and its session.
type desk struct {
	exec  *Executor
	key   []byte
	noted func(*consent.Event) // nil: nobody is told of changes of the book

	mu     sync.Mutex
	book   *consent.Book
	calls  map[string]*call // by request
	timer  Timer            // runs when something is due
	due    time.Time        // zero: the timer does not run
	pruned int              // requests that were left then
	closed signal           // happens when nothing becomes of requests here any more
}

// open makes d ready.
func (d *desk) open(e *Executor) {
	d.exec, d.key = e, make([]byte, 32)
	_, _ = rand.Read(d.key) // never fails
	d.book, d.calls = consent.NewBook(d.key), map[string]*call{}
}

// apply changes the book. d.mu is held: events do not get stale.
func (d *desk) apply(ev *consent.Event) {
	if err := d.book.Apply(ev); err != nil {
		d.exec.report(&CallError{CallID: ev.Call, Err: err})
		return
	}
	if d.noted != nil {
		d.noted(ev)
	}
	d.exec.ledger.agree(ev)
	d.arm()
}

// arm sees to it that the timer runs when something will be due. d.mu is held.
func (d *desk) arm() {
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

// tick does what time has brought: reminders, and the ends of requests that ran
// out. It returns the calls of these.
func (d *desk) tick() []*call {
	type news struct {
		call    *call
		expired bool
	}
	var due []news
	d.mu.Lock()
	if d.book == nil || d.closed.happened() {
		d.mu.Unlock()
		return nil
	}
	now := d.exec.now()
	for _, ev := range d.book.Due(now) {
		due = append(due, news{d.calls[ev.Request], ev.Kind == consent.EventExpired})
		d.apply(&ev)
	}
	d.due = time.Time{}
	if d.timer != nil {
		d.timer.Stop()
		d.arm()
	}
	d.mu.Unlock()
	var expired []*call
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
	for _, c := range e.desk.tick() {
		ids = append(ids, c.id)
	}
	return ids
}

// answers reports whether the question of c needs nobody's answer any more.
func (d *desk) answers(c *call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, yes := d.answer(c)
	return yes
}

// answer returns the grant that answers the question of c; it is empty when
// nobody is asked at present. d.mu is held.
func (d *desk) answer(c *call) (grant string, yes bool) {
	if _, off := d.book.IsOff(c.now); off {
		return "", true
	}
	g, yes := d.book.Match(c.now, &c.asked.question)
	return g.ID, yes
}

// drop forgets the request of a call that has ended. c.mu is held.
func (d *desk) drop(c *call) {
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
func (d *desk) use(c *call) *ending {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := c.asked
	changed := Detail{Changed: []string{"grant"}}
	var ev consent.Event
	var err error
	switch {
	case a.id != "":
		now := c.consentCall()
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

// prune forgets what is old, when there is twice as much as last time. d.mu is held.
func (d *desk) prune(now time.Time) {
	if len(d.calls) < 64 || len(d.calls) < 2*d.pruned {
		return
	}
	d.book.Prune(now.Add(-memory))
	for id := range d.calls {
		if _, known := d.book.Request(id); !known {
			delete(d.calls, id)
		}
	}
	d.pruned = len(d.calls)
}
