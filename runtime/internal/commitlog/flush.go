package commitlog

// arm sets the timer that writes entries for which no goroutine waits. w.mu is held.
func (w *Writer) arm() {
	if w.armed {
		return
	}
	w.armed = true
	if w.timer == nil {
		w.timer = w.cfg.Sched.After(maxEntryDelay, w.overdue)
		return
	}
	w.timer.Reset(maxEntryDelay)
}

// overdue writes the waiting entries. The timer calls it.
func (w *Writer) overdue() {
	w.mu.Lock()
	w.armed = false
	w.mu.Unlock()
	_ = w.FlushAll() // a call that needs its entries flushes too, and gets the error
}

// FlushAll is Flush for all that has been added.
func (w *Writer) FlushAll() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	last := w.next - 1
	w.mu.Unlock()
	return w.Flush(last)
}

// Flush returns when all entries up to a position would survive a crash. After an error they may
// not, and nothing more will be written. An error that is journal.ErrUnavailable says that they are
// not in the journal and will be written later.
func (w *Writer) Flush(position uint64) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	switch {
	case w.failed != nil:
		defer w.mu.Unlock()
		return w.failed
	case w.durable >= position:
		w.mu.Unlock()
		return nil
	}
	b, busy := w.filling, w.writing != nil
	if busy && position <= w.writing.last {
		b = w.writing
	}
	follow := b.led
	b.led = true
	w.mu.Unlock()
	switch {
	case follow:
		w.cfg.Sched.Wait(&b.done, nil, nil)
		return b.err
	case busy:
		w.cfg.Sched.Wait(&b.begin, nil, nil)
	}
	return w.write(b)
}

// write writes b, the batch that is filling, and lets the leader of the next batch write.
func (w *Writer) write(b *batch) error {
	w.hold.Lock()
	w.mu.Lock()
	b.last, b.err = w.next-1, w.failed
	w.writing, w.filling = b, &batch{entries: w.spare[:0]}
	w.spare = nil
	w.mu.Unlock()
	w.hold.Unlock()
	if b.err == nil {
		b.err = w.cfg.Append(b.entries)
	}
	w.mu.Lock()
	requeued := b.err != nil && w.requeue(b)
	if b.err == nil {
		w.durable = b.last
	} else if !requeued && w.failed == nil {
		w.failed = b.err
	}
	if !requeued {
		clear(b.entries)
		w.spare = b.entries
	}
	b.entries, w.writing = nil, nil
	next, led := w.filling, w.filling.led
	held := w.stall.err != nil || len(w.stall.later) > 0
	w.mu.Unlock()
	if b.err == nil && held {
		w.endStall(b.last)
	}
	w.cfg.Sched.Fire(&b.done)
	w.cfg.Written(b.err)
	if led {
		w.cfg.Sched.Fire(&next.begin)
	}
	return b.err
}
