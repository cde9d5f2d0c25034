package feed

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// The most that a window holds.
const (
	windowEntries = 4096
	windowBytes   = 4 << 20
)

// A window holds the latest entries of a journal, without their private parts.
type window struct {
	entries []journal.Entry // without gaps
	bytes   int             // of them
}

// add adds the next entry, and removes old entries when there are too many.
func (w *window) add(e *journal.Entry) {
	one := public(e)
	one.Leaf = slices.Clone(e.Leaf) // the writer may use its buffer again
	w.entries = append(w.entries, one)
	w.bytes += size(&one)
	drop := 0
	for len(w.entries)-drop > windowEntries || w.bytes > windowBytes && len(w.entries)-drop > 1 {
		w.bytes -= size(&w.entries[drop])
		w.entries[drop] = journal.Entry{} // releases the leaf
		drop++
	}
	w.entries = w.entries[drop:]
}

// after returns the entries after a position, at most limit. It reports false when the first of them
// has left the window.
func (w *window) after(position uint64, limit int) ([]journal.Entry, bool) {
	if len(w.entries) == 0 || position+1 < w.entries[0].Seq {
		return nil, false
	}
	first := min(int(position+1-w.entries[0].Seq), len(w.entries))
	return slices.Clone(w.entries[first:min(first+limit, len(w.entries))]), true
}

// size returns about how much memory an entry takes.
func size(e *journal.Entry) int {
	return 192 + len(e.Leaf) + len(e.Kind) + len(e.Session) + len(e.Run) + len(e.Call) + len(e.Tool)
}

// public returns an entry without its private part.
func public(e *journal.Entry) journal.Entry {
	one := *e
	one.Private = nil
	return one
}
