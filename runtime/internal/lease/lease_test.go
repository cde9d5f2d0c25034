package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

const (
	heartbeat = 10 * time.Second
	stale     = time.Minute
)

// An owned is a journal with an owner that does what the test says.
type owned struct {
	journal.Memory
	mu      sync.Mutex
	renew   func(ctx context.Context) error // nil: renewals succeed
	fence   error                           // of Fence
	renewed int
	claims  int // that were not released
}

func (o *owned) Epoch() uint64 { return 7 }

func (o *owned) Claim(context.Context) (func(), error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.claims > 0 {
		return nil, journal.ErrClaimed
	}
	o.claims++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.claims--
	}, nil
}

func (o *owned) Renew(ctx context.Context) error {
	o.mu.Lock()
	o.renewed++
	renew := o.renew
	o.mu.Unlock()
	if renew == nil {
		return nil
	}
	return renew(ctx)
}

func (o *owned) Fence(_ context.Context, effect func()) error {
	if o.fence == nil {
		effect()
	}
	return o.fence
}

// renewing sets what renewals do from now on.
func (o *owned) renewing(f func(ctx context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renew = f
}

func (o *owned) state() (renewed, claims int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.renewed, o.claims
}

// A witness has what a Lease said.
type witness struct {
	mu   sync.Mutex
	lost []error
	told []error
	at   time.Time // of the loss
}

func (w *witness) said() (lost, told []error, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost, w.told, w.at
}

// guard is like that of the engine, but for the stack.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}

func open(w *witness) *lease.Lease { return openBy(w, nil) }

func openBy(w *witness, c runtime.Clock) *lease.Lease {
	s := &sched.Scheduler{}
	if c != nil {
		s.Use(c)
	}
	return lease.New(lease.Config{
		Sched: s, Heartbeat: heartbeat, Stale: stale, Guard: guard,
		OnLost: func(cause error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lost, w.at = append(w.lost, cause), time.Now()
		},
		Report: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, err)
		},
	})
}

// held runs test in a bubble with a Lease of a journal that has owners.
func held(t *testing.T, test func(t *testing.T, l *lease.Lease, j *owned, w *witness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j, w := &owned{}, &witness{}
		l := open(w)
		require.NoError(t, l.Claim(t.Context(), j))
		l.Hold()
		test(t, l, j, w)
		l.Release(time.Second)
		_, claims := j.state()
		assert.Zero(t, claims)
	})
}

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

func TestTheOwnershipIsRenewedUntilItIsReleased(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		assert.EqualValues(t, 7, l.Epoch())
		time.Sleep(time.Hour + time.Second)
		renewed, _ := j.state()
		assert.Equal(t, 360, renewed)
		l.Release(time.Second)
		time.Sleep(time.Hour)
		again, _ := j.state()
		assert.Equal(t, renewed, again)
		lost, told, _ := w.said()
		assert.Empty(t, lost)
		assert.Empty(t, told)
	})
}

func TestAJournalHasOneExecutorAProcess(t *testing.T) {
	j := &owned{}
	first, second := open(&witness{}), open(&witness{})
	require.NoError(t, first.Claim(t.Context(), j))
	require.ErrorIs(t, second.Claim(t.Context(), j), journal.ErrClaimed)
	first.Unclaim()
	first.Unclaim()
	require.NoError(t, second.Claim(t.Context(), j))
}

func TestAJournalWithoutOwnersIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &witness{}
		l := open(w)
		require.NoError(t, l.Claim(t.Context(), &journal.Memory{}))
		l.Hold()
		time.Sleep(time.Hour)
		l.Wrote(journal.ErrConflict)
		require.NoError(t, l.Fence(t.Context(), func() error { return nil }))
		assert.Zero(t, l.Epoch())
		l.Release(time.Second)
		lost, told, _ := w.said()
		assert.Empty(t, lost)
		assert.Empty(t, told)
	})
}

func TestNoLeaseOwnsNothing(t *testing.T) {
	var l *lease.Lease
	assert.Zero(t, l.Epoch())
	l.Release(time.Second)
	broken := errors.New("broken")
	assert.Equal(t, broken, l.Fence(t.Context(), func() error { return broken }))
}

// TestARenewalThatIsRefusedLosesTheOwnership: it is lost once, and at once.
func TestARenewalThatIsRefusedLosesTheOwnership(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		j.renewing(fails(fmt.Errorf("epoch 8: %w", journal.ErrLost)))
		began := time.Now()
		time.Sleep(time.Hour)
		lost, told, at := w.said()
		require.Len(t, lost, 1)
		assert.EqualError(t, lost[0], fmt.Sprintf("epoch 8: %v", journal.ErrLost))
		assert.Empty(t, told)
		assert.Equal(t, heartbeat, at.Sub(began))
		renewed, _ := j.state()
		assert.Equal(t, 1, renewed, "nothing is renewed any more")
	})
}

// TestFailedRenewalsAreTriedAgain: after Stale the next owner may have taken over.
func TestFailedRenewalsAreTriedAgain(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		time.Sleep(heartbeat + time.Second)
		j.renewing(func(context.Context) error { panic("ouch") })
		time.Sleep(4 * heartbeat)
		lost, told, _ := w.said()
		assert.Empty(t, lost)
		require.Len(t, told, 4)
		require.EqualError(t, told[0], "the ownership of the journal could not be renewed, which is tried again: panic: ouch")
		j.renewing(nil)
		time.Sleep(heartbeat)
		j.renewing(fails(errors.New("the disk does not answer")))
		proven := time.Now().Truncate(heartbeat)
		time.Sleep(time.Hour)
		lost, _, at := w.said()
		require.Len(t, lost, 1)
		require.ErrorIs(t, lost[0], journal.ErrLost)
		require.ErrorContains(t, lost[0], "it could not be renewed for 1m0s: ")
		assert.Equal(t, stale, at.Sub(proven))
	})
}

// TestAFullDiskKeepsTheOwnership: the journal says that it is still that of this process.
func TestAFullDiskKeepsTheOwnership(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		j.renewing(fails(journal.ErrUnavailable))
		time.Sleep(time.Hour)
		lost, told, _ := w.said()
		assert.Empty(t, lost)
		assert.NotEmpty(t, told)
	})
}

// TestARenewalThatHangsLosesTheOwnership: its context ends with the ownership.
func TestARenewalThatHangsLosesTheOwnership(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		j.renewing(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		began := time.Now()
		time.Sleep(time.Hour)
		lost, told, at := w.said()
		require.Len(t, lost, 1)
		assert.Equal(t, stale, at.Sub(began))
		assert.Empty(t, told, "it is not tried again")
	})
}

func TestWritesAndEffectsFindTheLoss(t *testing.T) {
	for name, find := range map[string]func(t *testing.T, l *lease.Lease, j *owned){
		"lost":     func(_ *testing.T, l *lease.Lease, _ *owned) { l.Wrote(fmt.Errorf("append: %w", journal.ErrLost)) },
		"conflict": func(_ *testing.T, l *lease.Lease, _ *owned) { l.Wrote(journal.ErrConflict) },
		"fence": func(t *testing.T, l *lease.Lease, j *owned) {
			j.fence = journal.ErrLost
			err := l.Fence(t.Context(), func() error {
				assert.Fail(t, "a successor may be at work")
				return nil
			})
			assert.ErrorIs(t, err, runtime.ErrFenced)
			assert.ErrorIs(t, err, journal.ErrLost)
		},
	} {
		t.Run(name, func(t *testing.T) {
			held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
				l.Wrote(nil)
				l.Wrote(journal.ErrUnavailable)
				l.Wrote(errors.New("the disk is broken"))
				synctest.Wait()
				lost, _, _ := w.said()
				require.Empty(t, lost)
				find(t, l, j)
				find(t, l, j)
				synctest.Wait()
				lost, _, _ = w.said()
				assert.Len(t, lost, 1)
			})
		})
	}
}

func TestFenceReturnsTheErrorOfTheEffect(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		broken := errors.New("broken")
		assert.Equal(t, broken, l.Fence(t.Context(), func() error { return broken }))
		assert.NoError(t, l.Fence(t.Context(), func() error { return nil }))
	})
}

// TestReleaseWaitsForItsGraceOnly: a renewal that ignores its context keeps the journal no longer.
func TestReleaseWaitsForItsGraceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, never := &owned{}, make(chan struct{})
		l := open(&witness{})
		require.NoError(t, l.Claim(t.Context(), j))
		l.Hold()
		j.renewing(func(context.Context) error {
			<-never
			return nil
		})
		time.Sleep(heartbeat + time.Second)
		began := time.Now()
		l.Release(5 * time.Second)
		assert.Equal(t, 5*time.Second, time.Since(began))
		_, claims := j.state()
		assert.Zero(t, claims)
		close(never)
	})
}

// A lateClock is one whose time jumps, as it does for a process that was stopped.
type lateClock struct {
	now    time.Time
	timers map[*lateTimer]time.Time
}

type lateTimer struct {
	clock *lateClock
	f     func()
}

func (c *lateClock) Now() time.Time { return c.now }

func (c *lateClock) AfterFunc(d time.Duration, f func()) runtime.Timer {
	t := &lateTimer{c, f}
	t.Reset(d)
	return t
}

func (t *lateTimer) Stop() bool {
	_, runs := t.clock.timers[t]
	delete(t.clock.timers, t)
	return runs
}

func (t *lateTimer) Reset(d time.Duration) bool {
	_, runs := t.clock.timers[t]
	t.clock.timers[t] = t.clock.now.Add(d)
	return runs
}

// jump advances the time at once, and then calls what is due, in either order.
func (c *lateClock) jump(d time.Duration, lastFirst bool) {
	c.now = c.now.Add(d)
	var due []*lateTimer
	for t, at := range c.timers {
		if !at.After(c.now) {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b *lateTimer) int { return c.timers[a].Compare(c.timers[b]) })
	if lastFirst {
		slices.Reverse(due)
	}
	for _, t := range due {
		if t.Stop() {
			t.f()
		}
	}
}

// TestAStoppedProcessKeepsItsOwnership: however long it was stopped, and whichever timer comes first, if nobody took
// the journal meanwhile.
//
// SEMANTICS 6.9.8
func TestAStoppedProcessKeepsItsOwnership(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, lastFirst := range []bool{false, true} {
			j, w := &owned{}, &witness{}
			c := &lateClock{time.Now(), map[*lateTimer]time.Time{}}
			l := openBy(w, c)
			require.NoError(t, l.Claim(t.Context(), j))
			l.Hold()
			for range 100 {
				c.jump(24*time.Hour, lastFirst)
			}
			lost, told, _ := w.said()
			assert.Empty(t, lost)
			assert.Empty(t, told)
			if taken {
				j.renewing(fails(journal.ErrLost))
				c.jump(time.Hour, lastFirst)
				lost, _, _ = w.said()
				assert.Len(t, lost, 1, "the first renewal finds it out")
			}
			j.renewing(fails(errors.New("the disk does not answer")))
			for range 10 {
				c.jump(5*time.Second, lastFirst)
			}
			lost, _, _ = w.said()
			assert.Equal(t, taken, len(lost) == 1)
			c.jump(5*time.Second, lastFirst)
			c.jump(5*time.Second, lastFirst)
			lost, _, _ = w.said()
			assert.Len(t, lost, 1, "a minute in which it ran")
			l.Release(time.Second)
		}
	}
}

// TestMeasure: it tells when the ownership was renewed last, and when it ends.
func TestMeasure(t *testing.T) {
	held(t, func(t *testing.T, l *lease.Lease, j *owned, w *witness) {
		figures := func() (s runtime.Stats) { l.Measure(&s); return s }
		began := time.Now()
		assert.Equal(t, runtime.Stats{Renewed: began, Until: began.Add(stale)}, figures())
		time.Sleep(heartbeat + time.Second)
		assert.Equal(t, runtime.Stats{Renewed: began.Add(heartbeat), Until: began.Add(heartbeat + stale)}, figures())
		j.renewing(fails(errors.New("the disk does not answer")))
		time.Sleep(heartbeat)
		assert.Equal(t, began.Add(heartbeat), figures().Renewed, "a renewal that fails is none")
		time.Sleep(time.Hour)
		assert.Equal(t, runtime.Stats{Renewed: began.Add(heartbeat)}, figures(), "it has ended")
	})
	var s runtime.Stats
	(*lease.Lease)(nil).Measure(&s)
	lease.New(lease.Config{}).Measure(&s)
	assert.Zero(t, s, "a journal without owners")
}
