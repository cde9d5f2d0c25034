package sqlite

// Health is what to watch of a store.
type Health struct {
	Head  uint64 // entries
	Epoch uint64

	// WALFrames are the pages in the write-ahead log, Unmoved those that are not in the
	// file yet. Both stay below a few thousand, unless a reader never ends its read.
	WALFrames, Unmoved int64

	Lost error // why nothing can be written any more; nil: it can
}

// Health returns what to watch, after it has moved what it can of the write-ahead
// log into the file.
func (s *Store) Health() Health {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.checkpoint()
	return Health{
		Head: s.w.head, Epoch: s.Epoch(),
		WALFrames: s.w.frames, Unmoved: s.w.frames - s.w.moved, Lost: s.w.usable(),
	}
}
