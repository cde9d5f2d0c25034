package audit_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func TestWhatACrashLeavesIsAdded(t *testing.T) {
	r := newRig(t)
	l := r.open()
	r.append(l, 0, 100)
	require.NoError(t, l.Close(t.Context()))
	require.NoError(t, r.inner.Append(t.Context(), entries(t, 100, 50)), "written, but no checkpoint was made")
	for range 3 {
		l = r.open()
		require.NoError(t, l.Close(t.Context()))
		rep := r.verify()
		assert.Equal(t, audit.VerdictOK, rep.Verdict, rep.Bad)
		assert.EqualValues(t, 150, rep.Anchored)
	}
	assert.Equal(t, []uint64{100, 150}, r.sizes())
	assert.Empty(t, r.reported())
}

func TestAJournalWithoutCheckpointsIsSignedLoudly(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.inner.Append(t.Context(), entries(t, 0, 3000)))
	l := r.open()
	require.NoError(t, l.Close(t.Context()))
	require.Len(t, r.reported(), 1)
	assert.ErrorContains(t, r.reported()[0], "3000 entries and no checkpoint")
	assert.Equal(t, audit.VerdictOK, r.verify().Verdict)
}

func TestOpenRefusesAnotherJournal(t *testing.T) {
	signer, _ := keys(t)
	other, _ := keys(t)
	list := entries(t, 0, 100)
	good, _ := logged(t, signer, list, 30, 60)
	noHints := func(s *store) {
		for i := range s.checkpoints {
			s.checkpoints[i].Note = s.checkpoints[i].Signed()
		}
	}
	for name, c := range map[string]struct {
		change func(s *store)
		want   string
	}{
		"cut":             {func(s *store) { s.entries = s.entries[:70] }, "100 entries"},
		"empty":           {func(s *store) { s.entries = nil }, "100 entries"},
		"edited":          {func(s *store) { s.entries[80] = forge(t, 81) }, "entry 81 "},
		"cut, no hints":   {func(s *store) { s.entries = s.entries[:70]; noHints(s) }, "70 entries"},
		"edited at first": {func(s *store) { s.entries[1] = forge(t, 2); noHints(s) }, "first 100 entries"},
		"deleted":         {func(s *store) { s.entries = slices.Delete(s.entries, 80, 81) }, "entry 82 where entry 81"},
		"other size":      {func(s *store) { s.checkpoints[2].Size = 99 }, "that of 100"},
		"no note":         {func(s *store) { s.checkpoints[2].Note = []byte("x") }, "no note"},
		"forged": {func(s *store) {
			theirs, _ := logged(t, other, s.entries)
			s.checkpoints = append(s.checkpoints[:2], theirs.checkpoints...)
		}, "not signed by the key"},
	} {
		t.Run(name, func(t *testing.T) {
			s := good.clone()
			c.change(s)
			var inner journal.Memory
			_, err := audit.New(t.Context(), readOnly{&inner, s}, asStore{s}, signer)
			require.ErrorIs(t, err, audit.ErrTampered)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "go on with")
		})
	}
	t.Run("hints are of no use", func(t *testing.T) {
		s := good.clone()
		noHints(s)
		l, err := audit.New(t.Context(), readOnly{nil, s}, asStore{s}, signer)
		require.NoError(t, err)
		require.NoError(t, l.Close(t.Context()))
	})
	t.Run("hints are wrong", func(t *testing.T) {
		s := good.clone()
		s.checkpoints[2].Note = slices.Clone(s.checkpoints[2].Note)
		s.checkpoints[2].Note[len(s.checkpoints[2].Note)-1] ^= 1
		l, err := audit.New(t.Context(), readOnly{nil, s}, asStore{s}, signer)
		require.NoError(t, err)
		require.NoError(t, l.Close(t.Context()))
	})
	t.Run("with a verifier", func(t *testing.T) {
		_, wrong := keys(t)
		_, err := audit.New(t.Context(), readOnly{nil, good}, asStore{good}, signer, audit.WithVerifier(wrong))
		require.ErrorIs(t, err, audit.ErrTampered)
	})
}

// readOnly is a journal that reads from a store.
type readOnly struct {
	journal.Journal
	s *store
}

func (r readOnly) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	return r.s.Read(ctx, after, limit)
}

type asStore struct{ *store }

func (s asStore) RecentCheckpoints(ctx context.Context, size uint64, most int) ([]audit.Checkpoint, error) {
	var m audit.MemoryCheckpoints
	for _, c := range s.checkpoints {
		_ = m.SaveCheckpoint(ctx, c.Size, c.Note)
	}
	return m.RecentCheckpoints(ctx, size, most)
}

func (asStore) SaveCheckpoint(context.Context, uint64, []byte) error { return errors.New("read only") }

// A counted store counts the checkpoints and entries that are read.
type counted struct {
	journal.Journal
	*audit.MemoryCheckpoints
	checkpoints, entries int
}

func (c *counted) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := c.Journal.Read(ctx, after, limit)
	c.entries += len(list)
	return list, err
}

func (c *counted) Checkpoints(context.Context) ([]audit.Checkpoint, error) {
	return nil, errors.New("a start reads all checkpoints")
}

func (c *counted) RecentCheckpoints(ctx context.Context, size uint64, most int) ([]audit.Checkpoint, error) {
	list, err := c.MemoryCheckpoints.RecentCheckpoints(ctx, size, most)
	c.checkpoints += len(list)
	return list, err
}

// TestAStartReadsTheLastCheckpoints: however many checkpoints there are, a start reads the last one, the one
// before, and that of the newest note of an anchor which has missed some.
func TestAStartReadsTheLastCheckpoints(t *testing.T) {
	r := newRig(t)
	behind := new(reading)
	l := r.open(audit.WithAnchor(behind))
	for at := range uint64(40) {
		r.append(l, at*10, 10)
		require.NoError(t, l.Checkpoint(t.Context()))
	}
	require.NoError(t, l.Close(t.Context()))
	behind.list = behind.list[:25]
	c := &counted{Journal: &r.inner, MemoryCheckpoints: &r.checkpoints.MemoryCheckpoints}
	l, err := audit.New(t.Context(), c, c, r.signer, audit.WithAnchor(behind))
	require.NoError(t, err)
	assert.Equal(t, 3, c.checkpoints)
	assert.Equal(t, 10, c.entries, "those of the last interval")
	require.NoError(t, l.Close(t.Context()))
}

// reading is an anchor whose notes can be read.
type reading struct{ notes }

func (r *reading) Notes(_ context.Context, _ string, f func([]byte) error) error {
	for _, n := range r.list {
		if err := f(n); err != nil {
			return err
		}
	}
	return nil
}
