package commitlog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// maxEntryDelay is how long an entry stays in memory at most when no goroutine waits for it.
const maxEntryDelay = 100 * time.Millisecond

var (
	// ErrNotRecovered is the error of a Writer before Begin.
	ErrNotRecovered = errors.New("the journal was not read yet: call Recover before anything else")
	// ErrClosed is the error of a Writer after Close.
	ErrClosed = errors.New("the executor was shut down: nothing is recorded any more")
)

// A Config says how a Writer reaches the rest of its executor.
type Config struct {
	Sched *sched.Scheduler

	// Append stores entries, in the order of their positions, as the method of a journal.Journal
	// does. It must not panic. It is called by one goroutine at a time.
	Append func(entries []journal.Entry) error

	// Written is told the result of each write. The caller of Flush waits until it returns.
	Written func(err error)
}

// A Writer queues the entries of an executor and writes them to its journal.
type Writer struct {
	cfg  Config
	hold lockorder.RWMutex[lockorder.Batch] // read-locked by HoldBatch; acquired before mu

	mu      lockorder.Mutex[lockorder.CommitLog]
	failed  error // sticky
	next    uint64
	durable uint64
	filling *batch // the batch to which entries are added
	writing *batch // the batch that is being written; nil: none
	spare   []journal.Entry
	pending map[string][]consent.Event // by session: changes of its book that its next entry takes along
	timer   runtime.Timer
	armed   bool
	stall   stall
}

// A batch holds entries that are written together.
type batch struct {
	entries []journal.Entry
	last    uint64      // position of the last entry, once the batch is being written
	led     bool        // a goroutine writes it, or will
	begin   sched.Event // fires when its leader may write
	done    sched.Event // fires when the write has succeeded or failed
	err     error       // the error of the write, when done has fired
}

// New returns a Writer that writes nothing before Begin.
func New(cfg Config) *Writer {
	return &Writer{cfg: cfg, failed: ErrNotRecovered, filling: &batch{}, pending: map[string][]consent.Event{}}
}

// On reports whether there is a journal.
func (w *Writer) On() bool { return w != nil }

// Begin continues the journal after a position.
func (w *Writer) Begin(after uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next, w.durable, w.failed = after+1, after, nil
}

// Health returns why the journal cannot be written, nil when it can.
func (w *Writer) Health() error {
	if w == nil {
		return nil
	}
	return w.failure()
}

// failure is Health for an executor with a journal (SEMANTICS 6.6).
func (w *Writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	return w.stall.err
}

// ConsentChanged adds a change of the book of a session, or of what belongs to none. The caller holds the
// lock of the books. The next entry of the session, of any kind, takes the change along, so that the
// journal holds the changes of a book in their order, among the entries of its session.
func (w *Writer) ConsentChanged(session string, ev *consent.Event) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[session] = append(w.pending[session], *ev)
}

// Add queues an entry of r, with the encoded private values of its payloads, and returns its
// position. The caller must not use r afterwards. w is not nil.
func (w *Writer) Add(r *journal.Record, private []byte) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.add(r, private)
}

// add is Add while w.mu is held.
func (w *Writer) add(r *journal.Record, private []byte) uint64 {
	if list, some := w.pending[r.Session]; some && r.Snapshot == nil && r.Page == nil { // which hold what was before them
		r.Consent = list
		delete(w.pending, r.Session)
	}
	entry, err := journal.NewEntry(w.next, r, private)
	if err != nil && w.failed == nil { // later entries would leave a gap
		w.failed = fmt.Errorf("%s of call %q cannot be recorded: %w", r.Kind, r.Call, err)
	}
	position := w.next
	w.next++
	if w.failed == nil {
		w.filling.entries = append(w.filling.entries, entry)
		w.arm()
	}
	return position
}

// settle adds an entry for each session with changes of its book that no entry has taken along.
func (w *Writer) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, session := range slices.Sorted(maps.Keys(w.pending)) {
		w.add(&journal.Record{Kind: journal.KindConsent, At: w.cfg.Sched.Now().Round(0).UTC(), Session: session}, nil)
	}
}

// SettleOf adds an entry with the changes of the book of a session that no entry has taken along, if there are some.
func (w *Writer) SettleOf(session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, some := w.pending[session]; some {
		w.add(&journal.Record{Kind: journal.KindConsent, At: w.cfg.Sched.Now().Round(0).UTC(), Session: session}, nil)
	}
}

// HoldBatch keeps the entries that are added until ReleaseBatch in one batch, which is durable as a
// whole or not at all. Several goroutines may hold it, and none of them may flush meanwhile.
func (w *Writer) HoldBatch() {
	if w != nil {
		w.hold.RLock()
	}
}

// ReleaseBatch undoes a HoldBatch.
func (w *Writer) ReleaseBatch() {
	if w != nil {
		w.hold.RUnlock()
	}
}

// Fail stops w for good: it writes nothing any more. err is the reason, unless w had failed before.
func (w *Writer) Fail(err error) {
	w.mu.Lock()
	if w.failed == nil {
		w.failed = err
	}
	over := w.stall.end()
	w.mu.Unlock()
	w.cfg.Sched.Fire(over)
}

// Close writes all entries and stops w.
func (w *Writer) Close() error {
	if w == nil {
		return nil
	}
	w.settle()
	err := w.FlushAll()
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrNotRecovered) {
		err = nil
	}
	w.mu.Lock()
	if w.failed == nil || errors.Is(w.failed, ErrNotRecovered) {
		w.failed = ErrClosed
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	over := w.stall.end()
	w.mu.Unlock()
	w.cfg.Sched.Fire(over)
	return err
}
