package audit_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// A cut store has archived its first entries, and deleted their checkpoints but the last.
type cut struct {
	store
	journal.Journal
	last uint64
}

// cutAt archives the entries up to a position of a log.
func cutAt(s *store, last uint64) *cut {
	c := &cut{store: *s.clone(), last: last}
	c.entries = slices.DeleteFunc(c.entries, func(e journal.Entry) bool { return e.Seq <= last })
	c.checkpoints = slices.DeleteFunc(c.checkpoints, func(p audit.Checkpoint) bool { return p.Size < last })
	return c
}

func (c *cut) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	if after < c.last {
		return nil, &journal.ArchivedError{Seq: after + 1, Last: c.last}
	}
	return c.store.Read(ctx, after, limit)
}

// Append appends.
func (c *cut) Append(_ context.Context, list []journal.Entry) error {
	c.entries = append(c.entries, list...)
	return nil
}

// RecentCheckpoints returns checkpoints.
func (c *cut) RecentCheckpoints(_ context.Context, size uint64, most int) (list []audit.Checkpoint, err error) {
	for _, p := range slices.Backward(c.checkpoints) {
		if p.Size <= size && len(list) < most {
			list = append(list, p)
		}
	}
	return list, nil
}

// SaveCheckpoint stores one.
func (c *cut) SaveCheckpoint(_ context.Context, size uint64, note []byte) error {
	c.checkpoints = append(c.checkpoints, audit.Checkpoint{Size: size, Note: note})
	return nil
}

// noted is an anchor whose notes can be read.
type noted struct{ list [][]byte }

func (n *noted) Anchor(_ context.Context, note []byte) error {
	n.list = append(n.list, slices.Clone(note))
	return nil
}

func (n *noted) Notes(_ context.Context, _ string, f func([]byte) error) error {
	for _, one := range n.list {
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// TestArchivedEntriesAreProved: the walk begins at the signed checkpoint of the archived entries, and finds what was changed after it.
func TestArchivedEntriesAreProved(t *testing.T) {
	signer, verifier := keys(t)
	s, anchors := logged(t, signer, entries(t, 0, 3000), every(500, 3000)...)
	c := cutAt(s, 1500)
	r := verify(t, c, verifier, anchors)
	require.Equal(t, audit.VerdictOK, r.Verdict, r.Bad)
	assert.Equal(t, []audit.Span{{First: 1, Last: 1500}}, r.Archived)
	assert.EqualValues(t, 3000, r.Entries)
	assert.EqualValues(t, 3000, r.Anchored)
	r.Segment(audit.Span{First: 1, Last: 700}, nil)
	r.Segment(audit.Span{First: 701, Last: 1500}, nil)
	assert.Equal(t, []audit.Span{{First: 1, Last: 1500}}, r.Archived)

	changed := cutAt(s, 1500)
	changed.entries[0] = entry(t, 1777)
	changed.entries[0].Seq = 1501
	r = verify(t, changed, verifier, anchors)
	assert.Equal(t, audit.ClassEdited, r.Bad.Class)
	assert.EqualValues(t, 1501, r.Bad.First)

	r = verify(t, cutAt(s, 1600), verifier, anchors)
	assert.Equal(t, audit.ClassArchive, r.Bad.Class, "no checkpoint has that size")
	assert.Equal(t, [2]uint64{1, 1600}, [2]uint64{r.Bad.First, r.Bad.Last})
}

// TestAnotherLogIsNotArchived: a lower end at the checkpoint of another log, of one that was not anchored, and
// with an anchored note that says otherwise.
func TestAnotherLogIsNotArchived(t *testing.T) {
	signer, verifier := keys(t)
	other, _ := keys(t)
	s, anchors := logged(t, signer, entries(t, 0, 1000), 500)
	foreign, _ := logged(t, other, entries(t, 0, 1000), 500)
	c := cutAt(s, 500)
	c.checkpoints = foreign.checkpoints
	r := verify(t, c, verifier, anchors)
	assert.Equal(t, audit.ClassArchive, r.Bad.Class)

	list := entries(t, 0, 1000)
	list[3] = entry(t, 7)
	list[3].Seq = 4
	rewritten, _ := logged(t, signer, list, 500)
	c = cutAt(s, 500)
	c.checkpoints = rewritten.checkpoints
	r = verify(t, c, verifier, anchors)
	require.NotNil(t, r.Bad, "the key signs another history than the anchored one")
}

// TestAnArchivedLogIsRestored: a copy whose first entries are archived is signed as restored, by the checkpoint that proves these, and refused where
// none does or what follows is another history.
//
// SEMANTICS 6.15.4
func TestAnArchivedLogIsRestored(t *testing.T) {
	signer, verifier := keys(t)
	s, notes := logged(t, signer, entries(t, 0, 3000), every(500, 3000)...)
	for _, last := range []uint64{1500, 3000} {
		c := cutAt(s, last)
		more := entry(t, 3000)
		more.Seq = 3001 // the record of the restore
		require.NoError(t, c.Append(t.Context(), []journal.Entry{more}))
		a := &noted{list: slices.Clone(notes)}
		require.NoError(t, audit.Restore(t.Context(), c, c, signer, 3000, audit.WithAnchor(a)))
		r := verify(t, c, verifier, a.list)
		r.Accept(3000)
		assert.Equal(t, audit.VerdictOK, r.Verdict, r.Bad)
		assert.EqualValues(t, 3001, r.Anchored)
	}

	c := cutAt(s, 1600)
	require.ErrorIs(t, audit.Restore(t.Context(), c, c, signer, 3000), audit.ErrTampered, "no checkpoint has that size")
	c = cutAt(s, 1500)
	c.entries[len(c.entries)-1] = entry(t, 7)
	c.entries[len(c.entries)-1].Seq = 3000
	require.ErrorIs(t, audit.Restore(t.Context(), c, c, signer, 3000), audit.ErrTampered)
}

// TestALogOfAnArchiveContinues: a start compares what is left, whether the last checkpoint is that of the archive or a later one.
func TestALogOfAnArchiveContinues(t *testing.T) {
	signer, verifier := keys(t)
	s, anchors := logged(t, signer, entries(t, 0, 3000), every(500, 3000)...)
	for _, last := range []uint64{1500, 2500, 3000} {
		for _, late := range [][][]byte{anchors, anchors[:2]} { // the second anchor has got no note since 1000
			c := cutAt(s, last)
			if last == 3000 {
				c.entries = entries(t, 3000, 40)
			}
			begun := len(c.entries)
			l, err := audit.New(t.Context(), c, c, signer, audit.WithAnchor(&noted{slices.Clone(late)}), audit.WithReport(func(err error) { t.Error(err) }))
			require.NoError(t, err)
			require.NoError(t, l.Journal().Append(t.Context(), entries(t, last+uint64(begun), 10)))
			require.NoError(t, l.Close(t.Context()))
			r := verify(t, c, verifier, anchors)
			require.True(t, r.OK, r.Bad)
			require.EqualValues(t, last+uint64(begun)+10, r.Signed)
		}
	}
	c := cutAt(s, 1500)
	c.checkpoints = c.checkpoints[:1]
	c.checkpoints[0].Note = c.checkpoints[0].Signed() // without the tree
	_, err := audit.New(t.Context(), c, c, signer)
	require.ErrorIs(t, err, audit.ErrTampered)
	require.ErrorContains(t, err, "the entries up to 1500 are archived, and no checkpoint proves them")
}
