package feed

import (
	"context"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Feed stands in front of a journal. Its methods are safe for concurrent use.
type Feed struct {
	inner journal.Journal

	mu      sync.Mutex
	head    uint64 // position of the last durable entry
	recent  window // the entries up to head
	waiting waiting
	closed  bool

	following group                    // subscribers that get live output
	early     map[*subscriber]struct{} // those that have a piece which comes after the head
}

// New returns the feed of a journal whose last entry has the position head, 0 when it is empty. All
// entries up to head must be durable.
func New(inner journal.Journal, head uint64) *Feed { return &Feed{inner: inner, head: head} }

// Journal returns the journal to append to from now on; no other writer may append to the inner one.
// See [journal.Wrap].
func (f *Feed) Journal() journal.Journal { return journal.Wrap(f.inner, f.append) }

// append stores entries and then wakes the subscribers that asked for one of them.
func (f *Feed) append(ctx context.Context, entries []journal.Entry) error {
	if len(entries) == 0 {
		return f.inner.Append(ctx, entries)
	}
	f.mu.Lock()
	head, closed := f.head, f.closed
	f.mu.Unlock()
	if closed {
		return fmt.Errorf("the feed: %w", journal.ErrClosed)
	}
	// Were the inner journal to take it, subscribers would miss what is between.
	if entries[0].Seq != head+1 {
		return fmt.Errorf("entry %d where the feed continues with %d: %w", entries[0].Seq, head+1, journal.ErrConflict)
	}
	if err := f.inner.Append(ctx, entries); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = entries[len(entries)-1].Seq
	for i := range entries {
		f.recent.add(&entries[i])
		f.waiting.wake(&entries[i])
	}
	for s := range f.early {
		f.offer(s)
	}
	return nil
}

// Head returns the position of the last durable entry, 0 when there is none.
func (f *Feed) Head() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.head
}

// Close ends every subscription with journal.ErrClosed, once it has passed on all entries, and
// refuses to append. The inner journal is not closed.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.waiting.wakeAll()
}
