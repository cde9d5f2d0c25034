package lease

import (
	"context"
	"errors"
	"fmt"

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
	over := l.over
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
			l.renewed = began
			l.stale.Reset(l.cfg.Stale - l.cfg.Sched.Now().Sub(began))
		}
		l.heartbeat.Reset(l.cfg.Heartbeat)
	}
	l.mu.Unlock()
	if err != nil && !over {
		l.cfg.Report(fmt.Errorf("the ownership of the journal could not be renewed, which is tried again: %w", err))
	}
}

// expire gives the ownership up when it was not renewed for the time of Config.Stale.
func (l *Lease) expire() {
	if !l.work.Enter() {
		return
	}
	defer l.work.Leave()
	l.mu.Lock()
	stale := l.cfg.Sched.Now().Sub(l.renewed) >= l.cfg.Stale // it may just have been renewed
	l.mu.Unlock()
	if stale {
		l.lose(fmt.Errorf("it could not be renewed for %v: %w", l.cfg.Stale, journal.ErrLost))
	}
}
