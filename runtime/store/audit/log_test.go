package audit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// A rig is a Log and what it is made of.
type rig struct {
	t           *testing.T
	inner       journal.Memory
	checkpoints checkpoints
	anchored    notes
	signer      note.Signer
	verifier    note.Verifier
	mu          sync.Mutex
	errs        []error
}

// checkpoints are ones that can fail.
type checkpoints struct {
	audit.MemoryCheckpoints
	mu  sync.Mutex
	err error
}

func (c *checkpoints) SaveCheckpoint(ctx context.Context, size uint64, note []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return c.MemoryCheckpoints.SaveCheckpoint(ctx, size, note)
}

func (c *checkpoints) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	r.signer, r.verifier = keys(t)
	return r
}

func (r *rig) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *rig) reported() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.errs)
}

func (r *rig) open(opts ...audit.Option) *audit.Log {
	r.t.Helper()
	l, err := audit.New(r.t.Context(), &r.inner, &r.checkpoints, r.signer, append([]audit.Option{audit.WithAnchor(&r.anchored), audit.WithReport(r.report)}, opts...)...)
	require.NoError(r.t, err)
	return l
}

func (r *rig) append(l *audit.Log, after uint64, n int) {
	r.t.Helper()
	require.NoError(r.t, l.Journal().Append(r.t.Context(), entries(r.t, after, n)))
}

// appendAndWait appends entries and waits until the checkpoint of them is due.
func (r *rig) appendAndWait(l *audit.Log, after uint64, n int) {
	r.t.Helper()
	r.append(l, after, n)
	time.Sleep(audit.Delay)
	synctest.Wait()
}

// sizes returns those of the stored checkpoints.
func (r *rig) sizes() []uint64 {
	r.t.Helper()
	list, err := r.checkpoints.Checkpoints(r.t.Context())
	require.NoError(r.t, err)
	var sizes []uint64
	for _, c := range list {
		sizes = append(sizes, c.Size)
	}
	return sizes
}

func (r *rig) verify() audit.Report {
	r.t.Helper()
	return verify(r.t, audit.NewSource(&r.inner, &r.checkpoints), r.verifier, r.anchored.all())
}

func TestCheckpointsComeInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := r.open()
		time.Sleep(time.Hour)
		assert.Empty(t, r.sizes(), "of nothing there is none")
		r.append(l, 0, 3)
		time.Sleep(audit.Delay / 2)
		r.append(l, 3, 1)
		time.Sleep(audit.Delay/2 - time.Nanosecond)
		synctest.Wait()
		assert.Empty(t, r.sizes())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, []uint64{4}, r.sizes(), "a second after the first one")
		time.Sleep(time.Hour)
		assert.Equal(t, []uint64{4}, r.sizes(), "and not again")

		r.append(l, 4, audit.Interval-1)
		synctest.Wait()
		assert.Len(t, r.sizes(), 1)
		r.append(l, audit.Interval+3, 1)
		synctest.Wait()
		assert.Equal(t, []uint64{4, 260}, r.sizes(), "at once when there are many")
		time.Sleep(time.Hour)
		assert.Len(t, r.sizes(), 2, "the timer was stopped")

		e := entry(t, 261)
		e.Kind = journal.KindRunClosed
		require.NoError(t, l.Journal().Append(t.Context(), []journal.Entry{e}))
		synctest.Wait()
		assert.Equal(t, []uint64{4, 260, 261}, r.sizes(), "at the end of a run")

		r.append(l, 261, 1)
		require.NoError(t, l.Close(t.Context()))
		assert.Equal(t, []uint64{4, 260, 261, 262}, r.sizes(), "at the end")
		assert.Len(t, r.anchored.all(), 4)
		require.ErrorIs(t, l.Journal().Append(t.Context(), entries(t, 262, 1)), journal.ErrClosed)
		require.NoError(t, l.Close(t.Context()))
		assert.Empty(t, r.reported())
	})
}

func TestItsOwnClock(t *testing.T) {
	var due func()
	r := newRig(t)
	l := r.open(audit.WithAfterFunc(func(d time.Duration, f func()) func() bool {
		assert.Equal(t, audit.Delay, d)
		due = f
		return func() bool { return true }
	}))
	r.append(l, 0, 1)
	require.NotNil(t, due)
	due()
	require.NoError(t, l.Close(t.Context()))
	assert.Equal(t, []uint64{1}, r.sizes())
}

func TestFailedCheckpointsStopNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		broken := true
		var reached int
		l := r.open(audit.WithAnchor(audit.AnchorFunc(func(context.Context, []byte) error {
			if broken {
				return errors.New("no route")
			}
			reached++
			return nil
		})))
		r.checkpoints.fail(errors.New("disk full"))
		r.appendAndWait(l, 0, 10)
		require.Len(t, r.reported(), 1)
		require.ErrorContains(t, r.reported()[0], "disk full")
		assert.Empty(t, r.sizes())
		assert.Empty(t, r.anchored.all(), "the first is stored before it is anchored")

		r.checkpoints.fail(nil)
		r.appendAndWait(l, 10, 5)
		require.Len(t, r.reported(), 2)
		require.ErrorContains(t, r.reported()[1], "no route")
		assert.Len(t, r.anchored.all(), 1, "the other anchor has it")

		r.checkpoints.fail(errors.New("disk full"))
		r.appendAndWait(l, 15, 5)
		require.Len(t, r.reported(), 3)
		require.ErrorContains(t, r.reported()[2], "disk full")
		require.ErrorContains(t, r.reported()[2], "no route")
		assert.Equal(t, []uint64{15}, r.sizes())
		assert.Len(t, r.anchored.all(), 2, "the other anchor has it")
		r.checkpoints.fail(nil)

		broken = false
		require.NoError(t, l.Close(t.Context()))
		assert.Equal(t, 1, reached, "made up for at the end")
		assert.Equal(t, []uint64{15, 20}, r.sizes(), "what was stored is not stored twice")
		assert.True(t, r.verify().OK)

		s := &store{}
		s.entries, _ = r.inner.Read(t.Context(), 0, 100)
		s.checkpoints, _ = r.checkpoints.Checkpoints(t.Context())
		s.entries[4] = forge(t, 5)
		wantFault(t, verify(t, s, r.verifier, nil), 5, audit.ClassEdited)
	})
}

func TestSlowAnchorStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := r.open(audit.WithAnchor(audit.AnchorFunc(func(ctx context.Context, _ []byte) error {
			<-ctx.Done()
			return ctx.Err()
		})))
		for i := range uint64(20) {
			r.append(l, i*audit.Interval, audit.Interval)
		}
		began := time.Now()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		sizes := r.sizes()
		assert.EqualValues(t, uint64(20*audit.Interval), sizes[len(sizes)-1])
		assert.NotEmpty(t, r.reported())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		r.append(l, 20*audit.Interval, 1)
		require.ErrorIs(t, l.Close(ctx), context.DeadlineExceeded)
		assert.Less(t, time.Since(began), time.Hour)
		sizes = r.sizes()
		assert.EqualValues(t, uint64(20*audit.Interval+1), sizes[len(sizes)-1], "stored before it is anchored")
	})
}

func TestAppendKeepsToTheInnerJournal(t *testing.T) {
	r := newRig(t)
	l := r.open()
	j := l.Journal()
	require.NoError(t, j.Append(t.Context(), nil))
	require.ErrorIs(t, j.Append(t.Context(), entries(t, 1, 1)), journal.ErrConflict)
	r.append(l, 0, 2)
	bad := entries(t, 2, 3)
	bad[2].Seq = 9
	require.ErrorIs(t, j.Append(t.Context(), bad), journal.ErrConflict, "found by the inner journal")
	r.append(l, 2, 1)
	require.NoError(t, r.inner.Append(t.Context(), entries(t, 3, 1)), "behind its back")
	require.ErrorIs(t, j.Append(t.Context(), entries(t, 4, 1)), journal.ErrConflict)
	require.NoError(t, l.Close(t.Context()))

	got, err := j.Read(t.Context(), 1, 1)
	require.NoError(t, err)
	require.Len(t, got, 1)
	call, err := j.Call(t.Context(), journal.CallKey{Session: "session-1", Call: "call-0"})
	require.NoError(t, err)
	assert.Len(t, call, 3)
	open, err := j.Unfinished(t.Context())
	require.NoError(t, err)
	assert.Len(t, open, 1)
}

// fencedOwner owns a journal and keeps its successor out.
type fencedOwner struct{ *journal.Memory }

func (fencedOwner) Epoch() uint64                         { return 7 }
func (fencedOwner) Renew(context.Context) error           { return journal.ErrLost }
func (fencedOwner) Claim(context.Context) (func(), error) { return func() {}, nil }
func (fencedOwner) Fence(context.Context, func()) error   { return journal.ErrLost }

// TestJournalIsWhatTheInnerOneIs asks the journal of a log for its owner, fence and keys.
func TestJournalIsWhatTheInnerOneIs(t *testing.T) {
	signer, _ := keys(t)
	l, err := audit.New(t.Context(), fencedOwner{new(journal.Memory)}, new(audit.MemoryCheckpoints), signer)
	require.NoError(t, err)
	j := l.Journal()
	assert.EqualValues(t, 7, j.(journal.Owner).Epoch())
	assert.Equal(t, journal.ErrLost, j.(journal.Fencer).Fence(t.Context(), func() {}))
	assert.Implements(t, (*journal.Keeper)(nil), j)
	require.NoError(t, l.Close(t.Context()))
}

// TestReadersBesideTheWriter is for the race detector.
func TestReadersBesideTheWriter(t *testing.T) {
	r := newRig(t)
	l := r.open()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				rep, err := audit.Verify(t.Context(), audit.NewSource(l.Journal(), &r.checkpoints), r.verifier, r.anchored.all())
				if !assert.NoError(t, err) || rep.Bad != nil && !assert.Equal(t, audit.ClassUnsigned, rep.Bad.Class, rep.Bad) {
					return
				}
			}
		})
	}
	for i := range uint64(60) {
		r.append(l, i*50, 50)
	}
	require.NoError(t, l.Checkpoint(t.Context()))
	close(done)
	wg.Wait()
	require.NoError(t, l.Close(t.Context()))
	assert.Equal(t, audit.VerdictOK, r.verify().Verdict)
}

func TestPanickingAnchorIsAnError(t *testing.T) {
	r := newRig(t)
	l := r.open(audit.WithAnchor(audit.AnchorFunc(func(context.Context, []byte) error { panic("no") })))
	r.append(l, 0, 1)
	require.ErrorContains(t, l.Checkpoint(t.Context()), "panicked: no")
	require.Error(t, l.Close(t.Context()))
	assert.Equal(t, []uint64{1}, r.sizes())
}
