package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// renew renews the ownership and schedules the next renewal.
func (l *Lease) renew() {
	if !l.work.Enter() {
		return
	}
	defer l.work.Leave()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began := l.cfg.Sched.Now()
	l.mu.Lock()
	l.stop = cancel
	over, before := l.over, l.ticks
	l.mu.Unlock()
	if over {
		return
	}
	err := l.cfg.Guard(func() error { return l.owner.Renew(ctx) })
	if errors.Is(err, journal.ErrLost) {
		l.lose(err)
		return
	}
	l.mu.Lock()
	l.stop = nil
	if over = l.over; !over {
		if err == nil || errors.Is(err, journal.ErrUnavailable) { // ErrUnavailable says that the journal is still ours
			l.renewed, l.ticks = began, l.ticks-before
			used := l.cfg.Sched.Now().Sub(began) - time.Duration(l.ticks)*l.tick() // of the next tick; more where the process was stopped
			l.tickIn(l.tick() - min(max(used, 0), l.tick()))
		}
		l.heartbeat.Reset(l.cfg.Heartbeat)
	}
	l.mu.Unlock()
	if err != nil && !over {
		l.cfg.Report(fmt.Errorf("the ownership of the journal could not be renewed, which is tried again: %w", err))
	}
}

// parts is how many ticks the time of Config.Stale has. A process that is stopped for any time uses one of them.
const parts = 12

func (l *Lease) tick() time.Duration { return l.cfg.Stale / parts }

// tickIn sets when the next tick is. l.mu is held.
func (l *Lease) tickIn(d time.Duration) {
	l.next = l.cfg.Sched.Now().Add(d)
	l.stale.Reset(d)
}

// age counts a tick, and gives the ownership up when it was not renewed for all of them.
func (l *Lease) age() {
	if !l.work.Enter() {
		return
	}
	defer l.work.Leave()
	l.mu.Lock()
	if l.over || l.next.Sub(l.cfg.Sched.Now()) > l.tick()/2 { // a renewal has succeeded just now
		l.mu.Unlock()
		return
	}
	l.ticks++
	stale := l.ticks >= parts
	if !stale {
		l.tickIn(l.tick())
	}
	l.mu.Unlock()
	if stale {
		l.lose(fmt.Errorf("it could not be renewed for %v: %w", l.cfg.Stale, journal.ErrLost))
	}
}
