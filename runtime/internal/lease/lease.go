package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Config says how often a Lease renews the ownership, and how it reaches the rest of its executor.
type Config struct {
	Sched     *sched.Scheduler
	Heartbeat time.Duration // between renewals
	Stale     time.Duration // without a renewal after which the ownership is lost

	// OnLost ends what the ownership allowed. It is called at most once, in a goroutine of the Lease.
	// Release waits for it.
	OnLost func(cause error)

	// Report is told of a renewal that failed and is tried again.
	Report func(err error)

	// Guard calls f, which is code of the journal, and returns a panic as an error.
	Guard func(f func() error) error
}

// A Lease is the ownership of a journal, if the journal has owners.
type Lease struct {
	cfg    Config
	owner  journal.Owner  // nil: the journal has no owners
	fencer journal.Fencer // nil: the journal keeps no successor out
	epoch  uint64
	work   sched.Gate // counts goroutines that renew, or call OnLost

	mu        lockorder.Mutex[lockorder.Lease]
	over      bool // it was lost or given back
	heartbeat runtime.Timer
	stale     runtime.Timer // of the next tick
	ticks     int           // parts of Stale since the last successful renewal began
	next      time.Time     // when the next tick is due
	renewed   time.Time     // when that was
	unclaim   func()        // undoes Claim; nil: the journal is not claimed
	stop      func()        // ends the renewal in progress; nil: there is none
}

// New returns a Lease of no journal yet.
func New(cfg Config) *Lease { return &Lease{cfg: cfg} }

// Claim keeps other executors of this process from using j, if j has owners.
func (l *Lease) Claim(ctx context.Context, j journal.Journal) error {
	l.fencer, _ = j.(journal.Fencer)
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
	l.owner, l.epoch, l.unclaim = owner, owner.Epoch(), release
	return nil
}

// Unclaim undoes Claim. It does nothing when the journal is not claimed.
func (l *Lease) Unclaim() {
	l.mu.Lock()
	release := l.unclaim
	l.unclaim = nil
	l.mu.Unlock()
	if release != nil {
		release()
	}
}

// Epoch returns the number of this ownership, which grows with every owner. It is 0 when the journal
// has no owners.
func (l *Lease) Epoch() uint64 {
	if l == nil {
		return 0
	}
	return l.epoch
}

// Hold starts to renew the ownership of the claimed journal (SEMANTICS 6.9 and 8.1).
func (l *Lease) Hold() {
	if l.owner == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = l.cfg.Sched.Now()
	l.heartbeat = l.cfg.Sched.After(l.cfg.Heartbeat, l.renew)
	l.next = l.renewed.Add(l.tick())
	l.stale = l.cfg.Sched.After(l.tick(), l.age)
}

// Measure stores in s when the ownership was renewed last, and when it ends.
func (l *Lease) Measure(s *runtime.Stats) {
	if l == nil || l.owner == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Renewed = l.renewed; !l.over && !l.renewed.IsZero() {
		s.Until = l.renewed.Add(l.cfg.Stale)
	}
}

// Fence carries out an effect while the journal is owned, as far as the journal can tell. If it is
// not, the error is runtime.ErrFenced and the ownership is lost (SEMANTICS 6.9).
func (l *Lease) Fence(ctx context.Context, effect func() error) error {
	if l == nil || l.fencer == nil {
		return effect()
	}
	var result error
	if err := l.fencer.Fence(context.WithoutCancel(ctx), func() { result = effect() }); err != nil {
		l.Wrote(err)
		return fmt.Errorf("the effect was not carried out: %w: %w", runtime.ErrFenced, err)
	}
	return result
}

// Wrote takes the result of a write. A process that may no longer write does not own the journal.
func (l *Lease) Wrote(err error) {
	if err == nil || l.owner == nil || !errors.Is(err, journal.ErrLost) && !errors.Is(err, journal.ErrConflict) || !l.work.Enter() {
		return
	}
	l.cfg.Sched.Busy(1)
	go func() {
		defer l.cfg.Sched.Busy(-1)
		defer l.work.Leave()
		l.lose(err)
	}()
}

// Release gives the journal back to the application that opened it. It waits until what the Lease
// has begun is done, for the grace period at most.
func (l *Lease) Release(grace time.Duration) {
	if l == nil {
		return
	}
	l.end()
	l.work.Shut()
	l.work.WaitFor(l.cfg.Sched, grace)
	l.Unclaim()
}

// lose ends the ownership and says so, unless it has ended.
func (l *Lease) lose(cause error) {
	if l.end() {
		l.cfg.OnLost(cause)
	}
}

// end stops the timers for good. It reports false when they were stopped before.
func (l *Lease) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	if l.heartbeat != nil {
		l.heartbeat.Stop()
		l.stale.Stop()
	}
	if l.stop != nil {
		l.stop()
	}
	return true
}
