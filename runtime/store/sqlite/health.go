package sqlite

import "time"

// Health is what to watch of a store.
type Health struct {
	Head  uint64 // entries
	Epoch uint64

	// Owner is the owner that the store names: this process, or the one that has taken over from it.
	Owner Owner

	// WALFrames are the pages in the write-ahead log, Unmoved those that are not in the
	// file yet. Both stay below a few thousand, unless a reader never ends its read.
	WALFrames, Unmoved int64

	Lost error // why nothing can be written any more; nil: it can
}

// An Owner is a process that owns a store. The zero value is that of a store that cannot be asked.
type Owner struct {
	Epoch uint64 // of the ownership
	PID   int
	Host  string
	Since time.Time
	Beat  time.Time // when it last said that it is alive
}

// Health returns what to watch, after it has moved what it can of the write-ahead
// log into the file.
func (s *Store) Health() Health {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.checkpoint()
	return Health{
		Head: s.w.head, Epoch: s.Epoch(), Owner: s.w.owner(),
		WALFrames: s.w.frames, Unmoved: s.w.frames - s.w.moved, Lost: s.w.usable(),
	}
}

// owner reads the owner that the store names, which need not be this process any more. w.mu is held.
func (w *writer) owner() (o Owner) {
	if w.closed {
		return o
	}
	row, err := w.c.row("SELECT epoch, pid, host, since, beat FROM owner")
	if err != nil || len(row) != 5 {
		return o // Lost says why, or the next write will
	}
	number := func(i int) int64 { n, _ := row[i].(int64); return n }
	o.Epoch, o.PID, o.Since, o.Beat = uint64(number(0)), int(number(1)), time.Unix(0, number(3)), time.Unix(0, number(4))
	o.Host, _ = row[2].(string)
	return o
}
