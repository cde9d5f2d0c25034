package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

const (
	// DefaultHeartbeat is how often an executor renews its ownership of the journal.
	DefaultHeartbeat = 10 * time.Second
	// DefaultStale is for how long an owner that does not renew its ownership is believed to be
	// alive, by itself and by the next owner.
	DefaultStale = 60 * time.Second
)

var errStale = fmt.Errorf("it could not be renewed for %v: %w", DefaultStale, journal.ErrLost)

// A lease is the ownership of a journal that only one process at a time may write. It lasts from
// Recover until Shutdown, or until it is lost. Its timers run one after the other; no goroutine
// waits for them.
type lease struct {
	exec  *Executor
	owner journal.Owner // nil: the journal has no owners
	epoch uint64        // of this ownership of the journal; 0: the journal has no owners
	work  sched.Gate    // counts timers that do something

	mu     sync.Mutex
	over   bool // it was lost or given back
	beat   runtime.Timer
	stale  runtime.Timer
	proven time.Time // when the last successful renewal began
	unhold func()    // lets another executor of this process claim the journal; nil: it was not claimed
	stop   func()    // ends the renewal in progress; nil: there is none
}

// hold starts to renew the ownership of the journal, if the journal has owners.
func (l *lease) hold(e *Executor) {
	owner, ok := e.journal.(journal.Owner)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exec, l.owner, l.proven = e, owner, e.sched.Now()
	l.beat = e.sched.After(DefaultHeartbeat, l.renew)
	l.stale = e.sched.After(DefaultStale, l.expire)
}

// renew renews the ownership and schedules the next renewal.
func (l *lease) renew() {
	if !l.work.Enter() {
		return
	}
	defer l.work.Leave()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began := l.exec.sched.Now()
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
		if err == nil || errors.Is(err, journal.ErrUnavailable) { // ErrUnavailable says that the journal is still ours
			l.proven = began
			l.stale.Reset(DefaultStale - l.exec.sched.Now().Sub(began))
		}
		l.beat.Reset(DefaultHeartbeat)
	}
	l.mu.Unlock()
	if err != nil && !over {
		l.exec.report(&CallError{Err: fmt.Errorf("the ownership of the journal could not be renewed, which is tried again: %w", err)})
	}
}

// expire gives up the journal when it was not renewed for DefaultStale.
func (l *lease) expire() {
	if !l.work.Enter() {
		return
	}
	defer l.work.Leave()
	l.mu.Lock()
	stale := l.exec.sched.Now().Sub(l.proven) >= DefaultStale // it may just have been renewed
	l.mu.Unlock()
	if stale {
		l.lose(errStale)
	}
}

// wrote takes the error of a write. An executor that may no longer write does not own the journal.
// wrote does not wait until the calls have ended.
func (l *lease) wrote(err error) {
	if err == nil || l.owner == nil || !errors.Is(err, journal.ErrLost) && !errors.Is(err, journal.ErrConflict) || !l.work.Enter() {
		return
	}
	e := l.exec
	e.sched.Busy(1)
	go func() {
		defer e.sched.Busy(-1)
		defer l.work.Leave()
		l.lose(err)
	}()
}

// owning carries out an effect while this executor owns the journal, as far as the journal can
// tell. If it does not, the error is ErrFenced and the ownership is lost.
func (e *Executor) owning(ctx context.Context, effect func() error) error {
	f, ok := e.journal.(journal.Fencer)
	if !ok {
		return effect()
	}
	var result error
	if err := f.Fence(context.WithoutCancel(ctx), func() { result = effect() }); err != nil {
		e.lease.wrote(err)
		return fmt.Errorf("the effect was not carried out: %w: %w", runtime.ErrFenced, err)
	}
	return result
}

// lose ends everything that the ownership allowed. The executor records and admits nothing more and
// cancels the handlers. A caller that waits for consent is told that the request is pending,
// because the next owner continues it.
func (l *lease) lose(cause error) {
	if !l.end() {
		return
	}
	e := l.exec
	e.log.Fail(fmt.Errorf("the ownership of the journal is lost: %w", cause))
	e.report(&CallError{Reason: runtime.ReasonLeaseLost, Err: e.log.Health()})
	e.approvals.close()
	e.workers.halt(haltLost)
	e.undos.halt()
	e.all(e.workers.calls(), (*call).endLeaseLost)
}

// end stops the timers for good. It reports false when they were stopped before.
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

// release returns the journal to the application that opened it. By then the work of the timers has
// ended, or its grace is over.
func (l *lease) release(e *Executor) {
	l.end()
	l.work.Shut()
	e.graceful(&l.work)
	l.unclaim()
}

// claim keeps other executors of this process from using the journal, if the journal has owners.
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
	l.unhold, l.epoch = release, owner.Epoch()
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

// endLeaseLost ends a call whose executor no longer owns the journal. If its handler was not
// released, the call is not carried out. A call that waits for consent is left to the next owner.
func (c *call) endLeaseLost() {
	e := c.unwritable(c.exec.log.Health())
	e.fault, e.cause = nil, lifecycle.ByLeaseIdle
	if c.tryEnd(e) {
		return
	}
	e = cancellation(runtime.ReasonLeaseLost)
	e.cause = lifecycle.ByLease
	e.outcome.Message = "the executor does not own the journal any more: what became of the call, the next owner will say"
	c.end(*e)
}
