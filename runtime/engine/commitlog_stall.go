package engine

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

var errStalled = fmt.Errorf("%w: it could not be when the call was made", journal.ErrUnavailable)

// A stall is a time in which the journal takes no entries but may take them later, such as while
// the disk is full. Calls made during a stall are denied and not recorded, so that few entries
// wait. A call in progress is denied when its handler was not started. A call whose handler has run
// is unknown until its outcome is in the journal. l.mu guards the fields.
type stall struct {
	err   error        // the cause; nil: there is no stall
	over  *sched.Event // happens at the end of the stall; nil: no goroutine waits for it
	timer runtime.Timer
	later []afterwards // functions to call when entries are durable, in the order of positions
}

// An afterwards is a function to call when all entries up to a position are durable.
type afterwards struct {
	position uint64
	do       func()
}

// requeue handles a batch that could not be written. If it can be written later,
// requeue puts its entries in front of the waiting ones and reports true. l.mu is held.
func (l *commitLog) requeue(b *batchOf) bool {
	if !errors.Is(b.err, journal.ErrUnavailable) || l.failed != nil {
		return false
	}
	l.filling.entries = append(b.entries, l.filling.entries...)
	l.stall.err = b.err
	if l.stall.timer == nil {
		l.stall.timer = l.exec.sched.After(retryJournal, l.retry)
	} else {
		l.stall.timer.Reset(retryJournal)
	}
	return true
}

// retry is called by the timer.
func (l *commitLog) retry() { _ = l.flushAll() } // which sets the timer again

// ended ends the stall, if there is one, because all entries up to a position were
// written. It first calls the functions that waited for these positions, while calls
// are still denied. No lock is held.
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
	if s.err != why { // another stall has begun
		l.mu.Unlock()
		return
	}
	over := s.end()
	l.mu.Unlock()
	l.exec.sched.Fire(over)
}

// end ends the stall and returns the signal to fire. l.mu is held.
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

// flushPatiently is flush, but waits for the end of a stall. It is for changes that
// cannot be undone and must not be reported before they are durable.
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
			l.stall.over = sched.NewEvent()
		}
		over := l.stall.over
		l.mu.Unlock()
		l.exec.sched.Wait(over, nil, nil)
	}
}

// afterwards calls f when all entries up to a position are durable, which may be at
// once. It never calls f when they never become durable.
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

// stalled reports whether entries wait because the journal takes none at present.
func (l *commitLog) stalled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stall.err != nil && l.failed == nil
}
