package commitlog

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Trail is the entries of one call. Its zero value has no log: its entries are durable at once. A caller of
// Add holds the lock of the call, which puts the entries in order; the other methods need no lock.
type Trail struct {
	log  *Writer
	last atomic.Uint64 // position of the latest entry
}

// Open has the trail write to log, which may be nil.
func (t *Trail) Open(log *Writer) { t.log = log }

// Add adds an entry and returns its position.
func (t *Trail) Add(r *journal.Record, private []byte) uint64 {
	position := t.log.Add(r, private)
	t.last.Store(position)
	return position
}

// Last returns the position of the latest entry.
func (t *Trail) Last() uint64 { return t.last.Load() }

// Flush returns when all entries of the trail would outlive a crash. While the log is stalled it returns an error
// at once.
func (t *Trail) Flush() error {
	if !t.log.On() {
		return nil
	}
	return t.log.Flush(t.Last())
}

// FlushThroughStall is Flush, but waits for the end of a stall.
func (t *Trail) FlushThroughStall() error {
	if !t.log.On() {
		return nil
	}
	return t.log.FlushThroughStall(t.Last())
}
