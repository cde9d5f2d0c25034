package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// retryJournal is how often a stalled ledger tries to write.
const retryJournal = 250 * time.Millisecond

var errStalled = fmt.Errorf("%w: it could not be when the call was made", journal.ErrUnavailable)

// A stall is a time in which the journal takes no entries and may take them later,
// such as while the disk is full. Calls that come then are denied and recorded
// nowhere, so that what waits stays small. A call that is under way is denied when
// its handler was not started; one whose handler has run is unknown until its
// outcome is in the journal. l.mu guards the fields.
type stall struct {
	err   error   // why; nil: there is none
	over  *signal // happens when there is none any more; nil: no goroutine waits for that
	timer Timer
	later []afterwards // what is done when entries are durable, in the order of positions
}

// An afterwards is something to do when all entries up to a position are durable.
type afterwards struct {
	position uint64
	do       func()
}

// keep puts the entries of a batch that could not be written back in front of the
// entries that wait, when they can be written later. l.mu is held.
func (l *commitLog) keep(b *batchOf) bool {
	if !errors.Is(b.err, journal.ErrUnavailable) || l.failed != nil {
		return false
	}
	l.filling.entries = append(b.entries, l.filling.entries...)
	l.stall.err = b.err
	if l.stall.timer == nil {
		l.stall.timer = l.exec.after(retryJournal, l.retry)
	} else {
		l.stall.timer.Reset(retryJournal)
	}
	return true
}

// retry is what the timer calls.
func (l *commitLog) retry() { _ = l.flushAll() } // which sets the timer again

// ended ends the stall, if there is one, because all entries up to a position were
// written. What waited for these positions is done first, while calls are denied
// still. No lock is held.
func (l *commitLog) ended(durable uint64) {
	l.mu.Lock()
	s, n := &l.stall, 0
	for n < len(s.later) && s.later[n].position <= durable {
		n++
	}
	list, why := s.later[:n:n], s.err
	s.later = s.later[n:]
	l.mu.Unlock()
	for _, a := range list {
		a.do()
	}
	if why == nil {
		return
	}
	l.mu.Lock()
	if s.err != why { // it has begun anew
		l.mu.Unlock()
		return
	}
	over := s.end()
	l.mu.Unlock()
	l.exec.fire(over)
}

// end ends the stall and returns what to fire. l.mu is held.
func (s *stall) end() (over *signal) {
	if over = s.over; over == nil {
		over = newSignal()
	}
	s.err, s.over = nil, nil
	if s.timer != nil {
		s.timer.Stop()
	}
	return over
}

// flushPatiently is flush, but waits for the end of a stall: for what cannot be taken
// back, and must not be told before it is durable.
func (l *commitLog) flushPatiently(position uint64) error {
	for {
		err := l.flush(position)
		if !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
		l.mu.Lock()
		if l.failed != nil || l.stall.err == nil { // it has ended meanwhile
			l.mu.Unlock()
			continue
		}
		if l.stall.over == nil {
			l.stall.over = newSignal()
		}
		over := l.stall.over
		l.mu.Unlock()
		l.exec.wait(over, nil, nil)
	}
}

// afterwards has f called when all entries up to a position are durable, which may
// be at once. It is not called when they never are.
func (l *commitLog) afterwards(position uint64, f func()) {
	l.mu.Lock()
	if l.durable < position {
		defer l.mu.Unlock()
		l.stall.later = append(l.stall.later, afterwards{position, f})
		return
	}
	l.mu.Unlock()
	f()
}

// stalled reports whether entries wait for a journal that takes none now.
func (l *commitLog) stalled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stall.err != nil && l.failed == nil
}
