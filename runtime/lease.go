package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

const (
	// DefaultHeartbeat is how often an executor renews its ownership of the journal.
	DefaultHeartbeat = 10 * time.Second
	// DefaultStale is for how long an owner that does not renew its ownership is
	// believed to be alive, by itself and by the one that comes after it.
	DefaultStale = 60 * time.Second
)

var errStale = fmt.Errorf("it could not be renewed for %v: %w", DefaultStale, journal.ErrLost)

// A lease is the ownership of a journal that only one process at a time may
// write, from Recover until Shutdown, or until it is lost. Its timers run one
// after the other; no goroutine waits for them.
type lease struct {
	exec  *Executor
	owner journal.Owner // nil: the journal has no owners
	work  inflight      // of timers that do something

	mu     sync.Mutex
	over   bool // it was lost or given back
	beat   Timer
	stale  Timer
	proven time.Time // when the last renewal that succeeded began
	unhold func()    // lets another executor of this process have the journal; nil: it was not claimed
	stop   func()    // ends the renewal that is under way; nil: there is none
}

// hold keeps the journal from now on, if it is one that has owners.
func (l *lease) hold(e *Executor) {
	owner, ok := e.log.journal.(journal.Owner)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exec, l.owner, l.proven = e, owner, e.now()
	l.beat = e.after(DefaultHeartbeat, l.renew)
	l.stale = e.after(DefaultStale, l.expire)
}

// renew renews the ownership and sees to it that this is done again.
func (l *lease) renew() {
	if !l.work.enter() {
		return
	}
	defer l.work.leave()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began := l.exec.now()
	l.mu.Lock()
	l.stop = cancel
	over := l.over
	l.mu.Unlock()
	if over {
		return
	}
	err := guard(func() error { return l.owner.Renew(ctx) })
	if errors.Is(err, journal.ErrLost) {
		l.lose(err)
		return
	}
	l.mu.Lock()
	l.stop = nil
	if over = l.over; !over {
		if err == nil || errors.Is(err, journal.ErrUnavailable) { // which says that it is still ours
			l.proven = began
			l.stale.Reset(DefaultStale - l.exec.now().Sub(began))
		}
		l.beat.Reset(DefaultHeartbeat)
	}
	l.mu.Unlock()
	if err != nil && !over {
		l.exec.report(&CallError{Err: fmt.Errorf("the ownership of the journal could not be renewed, which is tried again: %w", err)})
	}
}

// expire gives the journal up when nobody knows any more whose it is.
func (l *lease) expire() {
	if !l.work.enter() {
		return
	}
	defer l.work.leave()
	l.mu.Lock()
	stale := l.exec.now().Sub(l.proven) >= DefaultStale // it may just have been renewed
	l.mu.Unlock()
	if stale {
		l.lose(errStale)
	}
}

// wrote is told of what came of a write: whoever may not write any more does not
// own the journal. It does not wait for what follows from that.
func (l *lease) wrote(err error) {
	if err == nil || l.owner == nil || !errors.Is(err, journal.ErrLost) && !errors.Is(err, journal.ErrConflict) || !l.work.enter() {
		return
	}
	e := l.exec
	e.busy(1)
	go func() {
		defer e.busy(-1)
		defer l.work.leave()
		l.lose(err)
	}()
}

// owning carries out an effect while the journal is this executor's, as far as the
// journal can tell. When it is not the error is ErrFenced and the ownership is lost.
func (e *Executor) owning(ctx context.Context, effect func() error) error {
	f, ok := e.log.journal.(journal.Fencer)
	if !ok {
		return effect()
	}
	var result error
	if err := f.Fence(context.WithoutCancel(ctx), func() { result = effect() }); err != nil {
		e.lease.wrote(err)
		return fmt.Errorf("the effect was not carried out: %w: %w", ErrFenced, err)
	}
	return result
}

// lose ends everything that the ownership allowed: nothing more is recorded or
// admitted, handlers are told to stop, and whoever waits for somebody's consent is
// told that it is pending, because that is for the next owner.
func (l *lease) lose(cause error) {
	if !l.end() {
		return
	}
	e := l.exec
	e.log.fail(fmt.Errorf("the ownership of the journal is lost: %w", cause))
	e.report(&CallError{Reason: ReasonLeaseLost, Err: e.log.health()})
	e.approvals.close()
	e.workers.halt(haltLost)
	e.undos.halt()
	e.all(e.workers.calls(), (*call).endLeaseLost)
}

// end stops the timers for good. It reports false when that was done before.
func (l *lease) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	if l.owner != nil {
		l.beat.Stop()
		l.stale.Stop()
	}
	if l.stop != nil {
		l.stop()
	}
	return true
}

// release gives the journal back to whoever opened it. What the timers have
// begun has ended by then, or had its grace.
func (l *lease) release(e *Executor) {
	l.end()
	l.work.shut()
	e.graceful(&l.work)
	l.unclaim()
}

// claim keeps other executors of this process from the journal, if it is one that
// has owners.
func (l *lease) claim(ctx context.Context, j journal.Journal) error {
	owner, ok := j.(journal.Owner)
	if !ok {
		return nil
	}
	release, err := owner.Claim(ctx)
	if err != nil {
		return fmt.Errorf("claim the journal: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unhold = release
	return nil
}

// unclaim is the reverse of claim.
func (l *lease) unclaim() {
	l.mu.Lock()
	release := l.unhold
	l.unhold = nil
	l.mu.Unlock()
	if release != nil {
		release()
	}
}

// endLeaseLost ends a call whose executor does not own the journal any more: one
// whose handler was not let go is not carried out. One that waits for consent is
// left to the next owner.
func (c *call) endLeaseLost() {
	e := c.unwritable(c.exec.log.health())
	e.byCaller, e.idle, e.fault = true, true, nil
	if c.tryEnd(e) {
		return
	}
	e = cancellation(ReasonLeaseLost)
	e.byCaller = true
	e.outcome.Message = "the executor does not own the journal any more: what became of the call, the next owner will say"
	c.end(*e)
}
