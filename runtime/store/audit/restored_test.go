package audit_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// rolledBack makes a log of 100 entries with notes at 30, 50, 80 and 100 in the file
// that it names, and returns a rig with the first 50 of them and their checkpoints.
func rolledBack(t *testing.T) (r *rig, anchor audit.FileAnchor) {
	anchor = audit.FileAnchor{Path: filepath.Join(t.TempDir(), "notes")}
	whole := newRig(t)
	l := whole.open(audit.WithAnchor(anchor))
	for _, upTo := range []uint64{30, 50, 80, 100} {
		whole.append(l, uint64(len(whole.all())), int(upTo)-len(whole.all()))
		require.NoError(t, l.Checkpoint(t.Context()))
	}
	require.NoError(t, l.Close(t.Context()))
	r = &rig{t: t, signer: whole.signer, verifier: whole.verifier}
	whole.copyTo(r, 50)
	return r, anchor
}

func (r *rig) all() []journal.Entry {
	list, err := r.inner.Read(r.t.Context(), 0, 1<<20)
	require.NoError(r.t, err)
	return list
}

// copyTo copies the first entries and their checkpoints to another rig.
func (r *rig) copyTo(to *rig, n uint64) {
	if n == 0 {
		return
	}
	require.NoError(r.t, to.inner.Append(r.t.Context(), r.all()[:n]))
	list, err := r.checkpoints.Checkpoints(r.t.Context())
	require.NoError(r.t, err)
	for _, c := range list {
		if c.Size <= n {
			require.NoError(r.t, to.checkpoints.SaveCheckpoint(r.t.Context(), c.Size, c.Note))
		}
	}
}

// refusal is the error of a start with an anchor.
func (r *rig) refusal(a audit.Anchor) error {
	_, err := audit.New(r.t.Context(), &r.inner, &r.checkpoints, r.signer, audit.WithAnchor(a), audit.WithReport(r.report))
	return err
}

func (r *rig) verdict(a audit.FileAnchor) audit.Report {
	return verify(r.t, audit.NewSource(&r.inner, &r.checkpoints), r.verifier, readAnchors(r.t, a.Path, r.signer.Name()))
}

func TestRolledBackJournalIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, r *rig, a audit.FileAnchor)
		want   string // "": it starts
	}{
		"with its checkpoints": {nil, "the journal has 50 entries, and an anchored note of \"test.example/log\" has 100 entries"},
		"and an old note copied to the end": {func(t *testing.T, r *rig, a audit.FileAnchor) {
			require.NoError(t, a.Anchor(t.Context(), readAnchors(t, a.Path, r.signer.Name())[1]))
		}, "the journal has 50 entries"},
		"and a part of a note at the end": {func(t *testing.T, r *rig, a audit.FileAnchor) {
			text := readFile(t, a.Path)
			writeFile(t, a.Path, append(text, text[:len(text)/7]...))
		}, "the journal has 50 entries"},
		"to nothing": {func(_ *testing.T, r *rig, _ audit.FileAnchor) {
			*r = rig{t: r.t, signer: r.signer, verifier: r.verifier}
		},
			"the journal has no checkpoint, and an anchored note"},
		"to its entries without checkpoints": {func(_ *testing.T, r *rig, _ audit.FileAnchor) {
			r.checkpoints.MemoryCheckpoints = audit.MemoryCheckpoints{}
		},
			"the journal has no checkpoint, and an anchored note"},
		"and continued with others": {func(t *testing.T, r *rig, _ audit.FileAnchor) {
			l := r.open()
			require.NoError(t, l.Journal().Append(t.Context(), []journal.Entry{forge(t, 51)}))
			r.append(l, 51, 60)
			require.NoError(t, l.Close(t.Context()))
		}, "the first 100 entries of the journal are others, and an anchored note"},
		"and the note is not of its key": {func(t *testing.T, _ *rig, a audit.FileAnchor) {
			text := readFile(t, a.Path)
			at := bytes.LastIndex(text, []byte("— ")) + len("— test.example/log ") + 20
			text[at] ^= 1
			writeFile(t, a.Path, text)
		}, "not signed by the key"},
		"no notes": {func(t *testing.T, _ *rig, a audit.FileAnchor) { require.NoError(t, os.Remove(a.Path)) }, ""},
		"only older notes": {func(t *testing.T, r *rig, a audit.FileAnchor) {
			list := readAnchors(t, a.Path, r.signer.Name())
			require.NoError(t, os.Remove(a.Path))
			require.NoError(t, a.Anchor(t.Context(), list[0]))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, a := rolledBack(t)
			if c.change != nil {
				c.change(t, r, a)
			}
			before := len(r.all())
			err := r.refusal(a)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, audit.ErrTampered)
			require.ErrorContains(t, err, c.want)
			require.Len(t, r.all(), before)
		})
	}
}

// TestAnchorThatIsBehindOrAhead is what a crash leaves between the two, or a
// checkpoint that could not be stored.
func TestAnchorThatIsBehindOrAhead(t *testing.T) {
	for _, c := range []struct{ anchored, stored, edit uint64 }{{30, 50, 20}, {50, 30, 40}, {45, 50, 20}, {45, 30, 40}} {
		a := audit.FileAnchor{Path: filepath.Join(t.TempDir(), "notes")}
		r := newRig(t)
		require.NoError(t, r.inner.Append(t.Context(), entries(t, 0, 60)))
		of := func(n uint64) (part *rig) {
			part = &rig{t: t, signer: r.signer, verifier: r.verifier}
			r.copyTo(part, n)
			require.NoError(t, part.open().Close(t.Context()))
			return part
		}
		require.NoError(t, a.Anchor(t.Context(), of(c.anchored).anchored.all()[0]))
		list, err := of(c.stored).checkpoints.Checkpoints(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.checkpoints.SaveCheckpoint(t.Context(), c.stored, list[0].Note))
		require.NoError(t, r.refusal(a), c)

		edited := &rig{t: t, signer: r.signer, verifier: r.verifier}
		all := r.all()
		all[c.edit-1] = forge(t, c.edit)
		require.NoError(t, edited.inner.Append(t.Context(), all))
		require.NoError(t, edited.checkpoints.SaveCheckpoint(t.Context(), c.stored, list[0].Note))
		require.ErrorIs(t, edited.refusal(a), audit.ErrTampered, c)
	}
}

func TestAnchorThatCannotBeRead(t *testing.T) {
	r, _ := rolledBack(t)
	require.ErrorContains(t, r.refusal(audit.FileAnchor{Path: t.TempDir()}), "the anchored notes cannot be read")
}

// restore does what a restore does, and continues the journal up to a size.
func (r *rig) restore(a audit.FileAnchor, upTo int) {
	kept := len(r.all())
	e, err := journal.NewEntry(uint64(kept)+1, &journal.Record{Kind: journal.KindRestored, At: start, By: "root"}, nil)
	require.NoError(r.t, err)
	require.NoError(r.t, r.inner.Append(r.t.Context(), []journal.Entry{e}))
	require.NoError(r.t, audit.Restore(r.t.Context(), &r.inner, &r.checkpoints, r.signer, uint64(kept), audit.WithAnchor(a)))
	l := r.open(audit.WithAnchor(a))
	r.append(l, uint64(kept)+1, upTo-kept-1)
	require.NoError(r.t, l.Close(r.t.Context()))
}

func TestRestored(t *testing.T) {
	r, a := rolledBack(t)
	r.restore(a, 120)
	require.NoError(t, r.refusal(a))
	report := r.verdict(a)
	require.Equal(t, audit.VerdictRestored, report.Verdict, report.Bad)
	require.Equal(t, []uint64{50}, report.Restored)
	require.EqualValues(t, 120, report.Anchored)
	report.Accept(49)
	require.Equal(t, audit.VerdictRestored, report.Verdict)
	report.Accept(50)
	require.Equal(t, audit.VerdictOK, report.Verdict)

	t.Run("what was kept is still proved", func(t *testing.T) {
		edited := &rig{t: t, signer: r.signer, verifier: r.verifier}
		all := r.all()
		all[39] = forge(t, 40)
		require.NoError(t, edited.inner.Append(t.Context(), all))
		report := edited.verdict(a)
		require.Equal(t, audit.VerdictBad, report.Verdict)
		require.LessOrEqual(t, report.Bad.First, uint64(40))
		require.GreaterOrEqual(t, report.Bad.Last, uint64(40))
	})
	t.Run("rolled back to before the restore", func(t *testing.T) {
		old, _ := rolledBack(t)
		old.signer, old.verifier = r.signer, r.verifier
		old.checkpoints = checkpoints{}
		require.ErrorIs(t, old.refusal(a), audit.ErrTampered)
	})
	t.Run("again", func(t *testing.T) {
		again := &rig{t: t, signer: r.signer, verifier: r.verifier}
		r.copyTo(again, 51)
		again.restore(a, 90)
		require.NoError(t, again.refusal(a))
		report := again.verdict(a)
		require.Equal(t, audit.VerdictRestored, report.Verdict, report.Bad)
		require.Equal(t, []uint64{50, 51}, report.Restored)
		require.ErrorIs(t, r.refusal(a), audit.ErrTampered, "the history that was given up")
	})
	t.Run("to nothing", func(t *testing.T) {
		none := &rig{t: t, signer: r.signer, verifier: r.verifier}
		none.restore(a, 5)
		require.NoError(t, none.refusal(a))
		report := none.verdict(a)
		require.Equal(t, []uint64{50, 51, 0}, report.Restored, report.Bad)
		report.Accept(report.Restored...)
		require.Equal(t, audit.VerdictOK, report.Verdict)
	})
}

// TestTwoRestoredJournals: notes of two journals that were both restored from one are
// not notes of one.
func TestTwoRestoredJournals(t *testing.T) {
	one, a := rolledBack(t)
	two := &rig{t: t, signer: one.signer, verifier: one.verifier}
	one.copyTo(two, 30)
	b := audit.FileAnchor{Path: filepath.Join(t.TempDir(), "others")}
	one.restore(a, 60)
	two.restore(b, 60)
	notes := append(readAnchors(t, a.Path, one.signer.Name()), readAnchors(t, b.Path, one.signer.Name())...)
	report := verify(t, audit.NewSource(&one.inner, &one.checkpoints), one.verifier, notes)
	require.Equal(t, audit.VerdictBad, report.Verdict)
}

func TestRestoreRefusesAnotherJournal(t *testing.T) {
	r, a := rolledBack(t)
	edited := &rig{t: t, signer: r.signer, verifier: r.verifier}
	all := r.all()
	all[44] = forge(t, 45)
	r.copyTo(edited, 0)
	require.NoError(t, edited.inner.Append(t.Context(), all))
	list, err := r.checkpoints.Checkpoints(t.Context())
	require.NoError(t, err)
	for _, c := range list {
		require.NoError(t, edited.checkpoints.SaveCheckpoint(t.Context(), c.Size, c.Note))
	}
	before := readFile(t, a.Path)
	require.ErrorIs(t, audit.Restore(t.Context(), &edited.inner, &edited.checkpoints, r.signer, 50, audit.WithAnchor(a)), audit.ErrTampered)
	assert.Equal(t, before, readFile(t, a.Path))
}

func TestRemovedCheckpointsAreBad(t *testing.T) {
	r := newRig(t)
	l := r.open()
	r.append(l, 0, 100)
	require.NoError(t, l.Close(t.Context()))
	report := verify(t, audit.NewSource(&r.inner, new(audit.MemoryCheckpoints)), r.verifier, r.anchored.all())
	require.Equal(t, audit.VerdictBad, report.Verdict)
	assert.Equal(t, audit.ClassUnsigned, report.Bad.Class)
	assert.Contains(t, report.Bad.What, "no checkpoint, though one of 100 entries was anchored")
}

func TestUnprovedEntriesOfAClosedJournal(t *testing.T) {
	r := newRig(t)
	l := r.open()
	r.append(l, 0, 10)
	require.NoError(t, l.Close(t.Context()))
	require.NoError(t, r.inner.Append(t.Context(), entries(t, 10, 1)))
	report := r.verify()
	require.Equal(t, audit.VerdictOK, report.Verdict)
	report.Closed()
	require.Equal(t, audit.VerdictUnproved, report.Verdict)
	require.True(t, report.OK)
	report.Authenticated(11, nil)
	require.Equal(t, audit.VerdictOK, report.Verdict)
	report.Authenticated(10, &audit.Fault{Class: audit.ClassForged, First: 11, Last: 11})
	require.Equal(t, audit.VerdictBad, report.Verdict)
}

// A forgery is an error of a journal with keys.
type forgery uint64

func (forgery) Error() string      { return "forged" }
func (f forgery) ForgedAt() uint64 { return uint64(f) }

type forgedStore struct {
	store
	at uint64
}

func (s *forgedStore) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := s.store.Read(ctx, after, limit)
	i := slices.IndexFunc(list, func(e journal.Entry) bool { return e.Seq == s.at })
	if i >= 0 {
		return list[:i], forgery(s.at)
	}
	return list, err
}

func TestForgedEntriesAreFaults(t *testing.T) {
	signer, verifier := keys(t)
	good, notes := logged(t, signer, entries(t, 0, 100), 30, 60)
	for _, at := range []uint64{1, 30, 61, 100} {
		report := verify(t, &forgedStore{*good.clone(), at}, verifier, notes)
		require.Equal(t, audit.VerdictBad, report.Verdict)
		require.Equal(t, audit.ClassForged, report.Bad.Class)
		require.Equal(t, at, report.Bad.First)
	}
}
