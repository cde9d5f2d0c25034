package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// rideAlong is how long an entry that nobody waits for stays in memory at most.
const rideAlong = 100 * time.Millisecond

var errNotRecovered = errors.New("the journal was not read yet: call Recover before anything else")

// A commitLog hands what happens to the journal in the order in which it happened.
// Entries are added under the locks of what they are about and cost no wait
// there. Whoever needs them to be durable flushes: the first writes for all who
// have come by then, and the first who comes meanwhile writes next.
//
// A journal that could not be written once is not written any more: what is in
// memory is ahead of it then, and nothing that is answered may rest on that. Where
// nothing of a write is there (journal.ErrUnavailable) the ledger is stalled: it
// keeps the entries, and writes them when that is possible. See ledger_stall.go.
type commitLog struct {
	exec    *Executor
	journal journal.Journal // nil: nothing is recorded
	key     []byte          // of digests of inputs
	epoch   uint64          // of this ownership of the journal; 0: it has no owners

	whole sync.RWMutex // read-locked over entries that belong into one batch; before mu

	mu      sync.Mutex
	failed  error // sticky
	next    uint64
	durable uint64
	filling *batchOf // where entries are added
	writing *batchOf // nil: nobody writes
	spare   []journal.Entry
	pending []consent.Event // that the next entry takes along
	timer   Timer
	armed   bool
	stall   stall
}

// A batchOf entries is written together.
type batchOf struct {
	entries []journal.Entry
	last    uint64 // position of the last one, once it is being written
	led     bool   // somebody writes it, or will
	begin   signal // happens when its leader may write
	done    signal // happens when it was written, or could not be
	err     error  // then
}

// open makes l ready. Nothing is written before recovery has read the journal.
func (l *commitLog) open(e *Executor) {
	l.exec, l.failed, l.filling = e, errNotRecovered, &batchOf{}
	e.sessions.byID = map[string]*Session{}
}

// on reports whether there is a journal.
func (l *commitLog) on() bool { return l.journal != nil }

// begin continues the journal after a position.
func (l *commitLog) begin(after uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next, l.durable, l.failed = after+1, after, nil
}

// health says why nothing can be written, if that is so.
func (l *commitLog) health() error {
	if !l.on() {
		return nil
	}
	return l.failure()
}

// failure is health with a journal.
func (l *commitLog) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	return l.stall.err
}

// consentChanged notes a change of the book of requests and grants. The lock of the desk
// is held. The next entry takes it along, whatever that is about: so the changes
// are in the journal in their order.
func (l *commitLog) consentChanged(ev *consent.Event) {
	if !l.on() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, *ev)
}

// A draft is an entry that has no position yet.
type draft struct {
	record  *journal.Record
	private []byte
}

// add queues an entry and returns its position.
func (l *commitLog) add(d draft) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.record.Consent, l.pending = l.pending, nil
	entry, err := journal.NewEntry(l.next, d.record, d.private)
	if err != nil && l.failed == nil { // from here on something would be missing
		l.failed = fmt.Errorf("%s of call %q cannot be recorded: %w", d.record.Kind, d.record.Call, err)
	}
	position := l.next
	l.next++
	if l.failed == nil {
		l.filling.entries = append(l.filling.entries, entry)
		l.arm()
	}
	return position
}

// note is add for a record that is about no call.
func (l *commitLog) note(r *journal.Record) uint64 { return l.add(draft{record: r}) }

// arm sees to it that what nobody waits for is written too. l.mu is held.
func (l *commitLog) arm() {
	if l.armed {
		return
	}
	l.armed = true
	if l.timer == nil {
		l.timer = l.exec.after(rideAlong, l.overdue)
		return
	}
	l.timer.Reset(rideAlong)
}

// overdue is what the timer calls.
func (l *commitLog) overdue() {
	l.mu.Lock()
	l.armed = false
	l.mu.Unlock()
	_ = l.flushAll() // a call that needs its entries flushes too, and gets the error
}

// flushAll is flush for all that has been added.
func (l *commitLog) flushAll() error {
	if !l.on() {
		return nil
	}
	l.mu.Lock()
	last := l.next - 1
	l.mu.Unlock()
	return l.flush(last)
}

// flush returns when all entries up to a position would outlive a crash. The
// error says that they may not, and that nothing will be written any more; or, when
// it is journal.ErrUnavailable, that they are not there, and will be written later.
func (l *commitLog) flush(position uint64) error {
	if !l.on() {
		return nil
	}
	l.mu.Lock()
	switch {
	case l.failed != nil:
		defer l.mu.Unlock()
		return l.failed
	case l.durable >= position:
		l.mu.Unlock()
		return nil
	}
	b, busy := l.filling, l.writing != nil
	if busy && position <= l.writing.last {
		b = l.writing
	}
	follow := b.led
	b.led = true
	l.mu.Unlock()
	switch {
	case follow:
		l.exec.wait(&b.done, nil, nil)
		return b.err
	case busy:
		l.exec.wait(&b.begin, nil, nil)
	}
	return l.write(b)
}

// write writes b, which is filling, and lets the next leader write.
func (l *commitLog) write(b *batchOf) error {
	l.whole.Lock()
	l.mu.Lock()
	b.last, b.err = l.next-1, l.failed
	l.writing, l.filling = b, &batchOf{entries: l.spare[:0]}
	l.spare = nil
	l.mu.Unlock()
	l.whole.Unlock()
	if b.err == nil {
		b.err = guard(func() error { return l.journal.Append(context.Background(), b.entries) })
	}
	l.mu.Lock()
	kept := b.err != nil && l.keep(b)
	if b.err == nil {
		l.durable = b.last
	} else if !kept && l.failed == nil {
		l.failed = b.err
	}
	if !kept {
		clear(b.entries)
		l.spare = b.entries
	}
	b.entries, l.writing = nil, nil
	next, led := l.filling, l.filling.led
	held := l.stall.err != nil || len(l.stall.later) > 0
	l.mu.Unlock()
	if b.err == nil && held {
		l.ended(b.last)
	}
	l.exec.fire(&b.done)
	l.exec.lease.wrote(b.err)
	if led {
		l.exec.fire(&next.begin)
	}
	return b.err
}
