package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// maxEntryDelay is how long an entry stays in memory at most when no goroutine waits for it.
const maxEntryDelay = 100 * time.Millisecond

var errNotRecovered = errors.New("the journal was not read yet: call Recover before anything else")

// A commitLog passes entries to the journal in the order of the changes. Entries are
// added under the locks of what they are about, and adding does not wait. A goroutine
// that needs its entries to be durable calls flush. The first one writes for all that
// have called by then, and the first one to arrive meanwhile writes next.
//
// After a failed write the commit log writes nothing more, because memory is then ahead
// of the journal and no answer may depend on it. A journal that reports that it wrote
// nothing (journal.ErrUnavailable) only stalls the commit log: it keeps the entries and
// writes them when that is possible again. See commitlog_stall.go.
type commitLog struct {
	exec    *Executor
	journal journal.Journal // nil: nothing is recorded
	key     []byte          // of digests of inputs
	epoch   uint64          // of this ownership of the journal; 0: the journal has no owners

	whole sync.RWMutex // read-locked while entries are added that belong in one batch; taken before mu

	mu      sync.Mutex
	failed  error // sticky
	next    uint64
	durable uint64
	filling *batchOf // the batch to which entries are added
	writing *batchOf // the batch that is being written; nil: none
	spare   []journal.Entry
	pending []consent.Event // changes of the book that the next entry takes along
	timer   runtime.Timer
	armed   bool
	stall   stall
}

// A batchOf holds entries that are written together.
type batchOf struct {
	entries []journal.Entry
	last    uint64      // position of the last entry, once the batch is being written
	led     bool        // a goroutine writes it, or will
	begin   sched.Event // happens when its leader may write
	done    sched.Event // happens when the write has succeeded or failed
	err     error       // the error of the write, when done has happened
}

// open prepares l for use. Nothing is written before recovery has read the journal.
func (l *commitLog) open(e *Executor) {
	l.exec, l.failed, l.filling = e, errNotRecovered, &batchOf{}
	e.sessions.byID = map[string]*Session{}
}

// on reports whether there is a journal.
func (l *commitLog) on() bool { return l.journal != nil }

// begin continues the journal after the position after.
func (l *commitLog) begin(after uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next, l.durable, l.failed = after+1, after, nil
}

// health returns why the journal cannot be written, nil when it can.
func (l *commitLog) health() error {
	if !l.on() {
		return nil
	}
	return l.failure()
}

// failure is health for an executor that has a journal.
func (l *commitLog) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	return l.stall.err
}

// consentChanged adds a change of the book of requests and grants. The lock of
// approvals is held. The next entry, of any kind, takes the change along, so that the
// journal holds the changes in their order.
func (l *commitLog) consentChanged(ev *consent.Event) {
	if !l.on() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, *ev)
}

// A draft is an entry without a position.
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
	if err != nil && l.failed == nil { // later entries would leave a gap
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

// note is add for a record that belongs to no call.
func (l *commitLog) note(r *journal.Record) uint64 { return l.add(draft{record: r}) }

// arm sets the timer that writes entries for which no goroutine waits. l.mu is held.
func (l *commitLog) arm() {
	if l.armed {
		return
	}
	l.armed = true
	if l.timer == nil {
		l.timer = l.exec.sched.After(maxEntryDelay, l.overdue)
		return
	}
	l.timer.Reset(maxEntryDelay)
}

// overdue is called by the timer.
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

// flush returns when all entries up to a position would survive a crash. After an error they may
// not, and nothing more will be written. An error that is journal.ErrUnavailable says that they are
// not in the journal and will be written later.
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
		l.exec.sched.Wait(&b.done, nil, nil)
		return b.err
	case busy:
		l.exec.sched.Wait(&b.begin, nil, nil)
	}
	return l.write(b)
}

// write writes b, the batch that is filling, and lets the leader of the next batch write.
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
	requeued := b.err != nil && l.requeue(b)
	if b.err == nil {
		l.durable = b.last
	} else if !requeued && l.failed == nil {
		l.failed = b.err
	}
	if !requeued {
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
	l.exec.sched.Fire(&b.done)
	l.exec.lease.wrote(b.err)
	if led {
		l.exec.sched.Fire(&next.begin)
	}
	return b.err
}
