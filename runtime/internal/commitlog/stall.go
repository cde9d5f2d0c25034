package commitlog

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// retryJournal is how often a stalled commit log tries to write.
const retryJournal = 250 * time.Millisecond

// ErrStalled is the error of a call that was made during a stall.
var ErrStalled = fmt.Errorf("%w: it could not be when the call was made", journal.ErrUnavailable)

// A stall is a time in which the journal takes no entries but may take them later, such as while
// the disk is full. Calls made during a stall are denied and not recorded, so that few entries
// wait. A call in progress is denied when its handler was not started. A call whose handler has run
// is unknown until its outcome is in the journal. w.mu guards the fields.
type stall struct {
	err   error        // the cause; nil: there is no stall
	fails int          // writes that were refused in this stall and in earlier ones
	over  *sched.Event // fires at the end of the stall; nil: no goroutine waits for it
	timer runtime.Timer
	later []callback // functions to call when entries are durable, in the order of positions
}

// A callback is a function to call when all entries up to a position are durable.
type callback struct {
	position uint64
	do       func()
}

// requeue handles a batch that could not be written. If the batch can be written later, requeue
// puts its entries in front of the waiting ones and reports true. w.mu is held.
func (w *Writer) requeue(b *batch) bool {
	if !errors.Is(b.err, journal.ErrUnavailable) || w.failed != nil {
		return false
	}
	w.filling.entries = append(b.entries, w.filling.entries...)
	w.stall.err = b.err
	w.stall.fails++
	if w.stall.timer == nil {
		w.stall.timer = w.cfg.Sched.After(retryJournal, w.retry)
	} else {
		w.stall.timer.Reset(retryJournal)
	}
	return true
}

// retry tries to write the waiting entries. The timer calls it.
func (w *Writer) retry() { _ = w.FlushAll() } // which sets the timer again

// endStall ends the stall, if there is one, because all entries up to a position were
// written. It first calls the functions that waited for these positions, while calls
// are still denied. w.mu is not held.
func (w *Writer) endStall(durable uint64) {
	w.mu.Lock()
	s, n := &w.stall, 0
	for n < len(s.later) && s.later[n].position <= durable {
		n++
	}
	list, stalled, fails := s.later[:n:n], s.err != nil, s.fails
	s.later = s.later[n:]
	w.mu.Unlock()
	for _, a := range list {
		a.do()
	}
	if !stalled {
		return
	}
	w.mu.Lock()
	if s.fails != fails { // another stall has begun
		w.mu.Unlock()
		return
	}
	over := s.end()
	w.mu.Unlock()
	w.cfg.Sched.Fire(over)
}

// end ends the stall and returns the event to fire. w.mu is held.
func (s *stall) end() (over *sched.Event) {
	if over = s.over; over == nil {
		over = sched.NewEvent()
	}
	s.err, s.over = nil, nil
	if s.timer != nil {
		s.timer.Stop()
	}
	return over
}

// FlushThroughStall is Flush, but waits for the end of a stall. It is for changes that
// cannot be undone and must not be reported before they are durable.
func (w *Writer) FlushThroughStall(position uint64) error {
	for {
		err := w.Flush(position)
		if !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
		w.mu.Lock()
		if w.failed != nil { // for good: its error may be one that says that the journal is unavailable
			defer w.mu.Unlock()
			return w.failed
		}
		if w.stall.err == nil { // it has ended meanwhile
			w.mu.Unlock()
			continue
		}
		if w.stall.over == nil {
			w.stall.over = sched.NewEvent()
		}
		over := w.stall.over
		w.mu.Unlock()
		w.cfg.Sched.Wait(over, nil, nil)
	}
}

// WhenDurable calls f when all entries up to a position are durable, which may be at
// once. It never calls f when they never become durable.
func (w *Writer) WhenDurable(position uint64, f func()) {
	w.mu.Lock()
	if w.durable < position {
		defer w.mu.Unlock()
		w.stall.later = append(w.stall.later, callback{position, f})
		return
	}
	w.mu.Unlock()
	f()
}

// Stalled reports whether entries wait because the journal takes none at present.
func (w *Writer) Stalled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stall.err != nil && w.failed == nil
}
