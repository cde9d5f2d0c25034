package approvals

import (
	"crypto/rand"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// prunedAtOnce is how many old requests and grants are removed when a request is added.
const prunedAtOnce = 4

// A Config says how Approvals reach the rest of their executor.
type Config[C any] struct {
	Sched   *sched.Scheduler
	MaxOpen int // open requests of a session

	// Changed gets every change of the book of a session, in order, under the lock. Without a session it is
	// one of what belongs to none.
	Changed func(session string, ev *consent.Event)

	// Report gets an event that the book refuses, with the id of its call, under the lock. That is a
	// fault of the engine: the book has not changed since the event was made.
	Report func(call string, err error)

	// Due gets what has become due at the time now, under no lock.
	Due func(list []Due[C], now time.Time)
}

// A Due says that the request of a call has expired, or that its reminder is due.
type Due[C any] struct {
	Call    C
	Expired bool
}

// Approvals holds requests and grants. C is a call that may wait for consent; its zero value is no
// call. The zero value of Approvals has nothing to do until Open is called.
type Approvals[C any] struct {
	cfg    Config[C]
	closed sched.Event // fires when requests no longer change

	foreseeing chan struct{} // holds one for each Foresee that asks

	mu    lockorder.Mutex[lockorder.Approvals]
	key   []byte
	book  *consent.Books
	calls map[string]C  // by request
	timer runtime.Timer // runs when something is due
	due   time.Time     // zero: the timer does not run
}

// Open prepares a for use, with a random key.
func (a *Approvals[C]) Open(cfg Config[C]) {
	a.cfg, a.key, a.calls, a.foreseeing = cfg, make([]byte, 32), map[string]C{}, make(chan struct{}, maxForeseen)
	_, _ = rand.Read(a.key) // never fails
	a.book = consent.NewBooks(a.key)
}

// Key returns the key that requests are bound with.
func (a *Approvals[C]) Key() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.key
}

// SetKey replaces the key by that of the journal. Restore then sets the books that were read with it.
func (a *Approvals[C]) SetKey(key []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.key = key
}

// Restore sets the books to those of earlier processes. Nothing becomes due before Resume.
func (a *Approvals[C]) Restore(book *consent.Books) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.book = book
}

// Put adds the book of a session that is read into memory, unless it has stayed.
func (a *Approvals[C]) Put(session string, book *consent.Book) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.book.Put(session, book)
	a.arm()
}

// Has reports whether the book of a session is in memory.
func (a *Approvals[C]) Has(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Has(session)
}

// Leave notes that a session leaves memory, in which nothing is open: its requests have no call any more. Its grants, and
// its requests as long as they are retained, stay.
func (a *Approvals[C]) Leave(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range a.book.Leave(session) {
		delete(a.calls, id)
	}
}

// Attach says which call waits for a request of an earlier process.
func (a *Approvals[C]) Attach(request string, c C) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[request] = c
}

// Resume sets the timer for the requests of earlier processes.
func (a *Approvals[C]) Resume() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arm()
}

// Closed returns the event that fires when the requests no longer change: they can be answered after
// a restart.
func (a *Approvals[C]) Closed() *sched.Event { return &a.closed }

// Close stops the timer, leaves the requests open and returns the calls that wait for them.
func (a *Approvals[C]) Close() []C {
	a.cfg.Sched.Fire(&a.closed)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
	waiting := make([]C, 0, len(a.calls))
	for _, c := range a.calls {
		waiting = append(waiting, c)
	}
	return waiting
}

// apply changes the book of a session. a.mu is held, so that the book has not changed since ev was made.
func (a *Approvals[C]) apply(ev *consent.Event) {
	session, err := a.book.Apply(ev)
	if err != nil {
		a.cfg.Report(ev.Call, err)
		return
	}
	a.cfg.Changed(session, ev)
	a.arm()
}

// SessionOf returns the session of a change, empty for one of what belongs to none.
func (a *Approvals[C]) SessionOf(ev *consent.Event) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.SessionOf(ev)
}

// prune removes some of the old requests and grants. a.mu is held.
func (a *Approvals[C]) prune(now time.Time) {
	for _, id := range a.book.Prune(now.Add(-history.Retained), prunedAtOnce) {
		delete(a.calls, id)
	}
}

// Request returns a request. One that has ended is found for as long as it is retained.
func (a *Approvals[C]) Request(id string) (consent.Request, bool) {
	if id == "" {
		return consent.Request{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Request(id)
}

// Requests returns the open requests, in the order in which they were made.
func (a *Approvals[C]) Requests() []consent.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Open()
}

// Page returns the open requests of a page. See [consent.Books.Page].
func (a *Approvals[C]) Page(f consent.RequestFilter) []consent.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Page(f)
}

// Ended returns requests that need no answer any more, the newest first. See [consent.Books.Ended].
func (a *Approvals[C]) Ended(at time.Time, before string, n int) []consent.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Ended(at, before, n)
}

// Len returns how many requests are open.
func (a *Approvals[C]) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Len()
}

// Call returns the call of a request, zero when there is none.
func (a *Approvals[C]) Call(request string) C {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls[request]
}

// Find returns a call of a request that match reports true for, zero when there is none. It calls
// match under the lock.
func (a *Approvals[C]) Find(match func(C) bool) (found C) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		if match(c) {
			found = c
		}
	}
	return found
}

// Show returns arguments as an approver sees them: sensitive members that reveal does not name are
// shown as length and salted digest. It returns nil when the arguments cannot be shown, because their
// code may panic.
func (a *Approvals[C]) Show(args wire.Value, reveal []string) (text []byte) {
	return show(a.Key(), args, reveal)
}

func show(key []byte, args wire.Value, reveal []string) (text []byte) {
	defer func() { _ = recover() }()
	text, _ = consent.Show(key, args, reveal...)
	return text
}
