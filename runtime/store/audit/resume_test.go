package audit_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// An observed source knows the lowest position from which more than one entry was read: single ones
// are read to find the end.
type observed struct {
	*store
	lowest atomic.Uint64
}

func (o *observed) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	for limit > 1 {
		if low := o.lowest.Load(); after >= low || o.lowest.CompareAndSwap(low, after) {
			break
		}
	}
	return o.store.Read(ctx, after, limit)
}

// from verifies a log from a point, and returns from where it has read.
func from(t *testing.T, s *store, v note.Verifier, anchored [][]byte, point *audit.Resume, keyed bool) (audit.Report, uint64) {
	t.Helper()
	o := &observed{store: s}
	o.lowest.Store(math.MaxUint64)
	r, err := audit.VerifyFrom(t.Context(), o, v, anchored, point, keyed)
	require.NoError(t, err)
	return r, o.lowest.Load()
}

// TestVerificationsResume goes on where the last one has ended, and says the same as one of all entries.
func TestVerificationsResume(t *testing.T) {
	signer, verifier := keys(t)
	list := entries(t, 0, 3000)
	first, anchors := logged(t, signer, list[:1100], every(500, 1100)...)
	r, read := from(t, first, verifier, anchors, nil, false)
	require.Equal(t, audit.VerdictOK, r.Verdict)
	require.Zero(t, read)
	point := r.Resume
	require.EqualValues(t, r.Signed, point.Size)

	second, anchors := logged(t, signer, list, 500, 1000, 1100, 2000)
	r, read = from(t, second, verifier, anchors, point, false)
	assert.Equal(t, point.Size, read, "nothing before the point was read")
	assert.Equal(t, point.Size, r.Resumed)
	all, _ := from(t, second, verifier, anchors, nil, false)
	assert.Equal(t, all.Resume.Size, r.Resume.Size)
	assert.Equal(t, all.Resume.Peaks, r.Resume.Peaks)
	assert.Equal(t, all.Resume.Notes, r.Resume.Notes)
	r.Resume, all.Resume, r.Resumed, r.Bytes, all.Bytes = nil, nil, 0, 0, 0
	assert.Equal(t, all, r)

	r, read = from(t, second, verifier, anchors, point, true)
	assert.Zero(t, read, "its entries were not verified by the keys")
	r, read = from(t, second, verifier, anchors, r.Resume, true)
	assert.EqualValues(t, 3000, r.Resumed)
	assert.EqualValues(t, uint64(math.MaxUint64), read, "there is nothing new")
}

// TestAResumedVerificationFinds tampers with a log that was verified before.
func TestAResumedVerificationFinds(t *testing.T) {
	signer, verifier := keys(t)
	list := entries(t, 0, 2000)
	before, anchors := logged(t, signer, list[:1000], every(250, 1000)...)
	r, _ := from(t, before, verifier, anchors, nil, false)
	point := r.Resume
	good, anchors := logged(t, signer, list, every(250, 2000)...)
	for at := range 2000 {
		if at%97 != 0 {
			continue
		}
		s := good.clone()
		s.entries[at] = forge(t, uint64(at+1))
		r, _ := from(t, s, verifier, anchors, point, false)
		if uint64(at) < point.Size {
			assert.Nil(t, r.Bad, "what was verified is not read again")
			continue
		}
		wantFault(t, r, at+1, audit.ClassEdited)
	}

	s := good.clone()
	s.checkpoints = slices.Delete(s.checkpoints, 1, 2)
	r, read := from(t, s, verifier, anchors, point, false)
	assert.Zero(t, read, "a checkpoint before the point was removed, so that all is read")
	assert.Zero(t, r.Resumed)

	forked := slices.Clone(list)
	forked[10] = forge(t, 11)
	_, others := logged(t, signer, forked, 500)
	r, read = from(t, good, verifier, append(slices.Clone(anchors), others...), point, false)
	assert.Zero(t, read)
	require.NotNil(t, r.Bad, "an anchor that was not given before is about another journal")

	s = good.clone()
	s.entries = s.entries[:400]
	r, _ = from(t, s, verifier, anchors, point, false)
	wantFault(t, r, 401, audit.ClassCut)
}

// TestResumePointsCannotBeForged has what a process can write that has the store and the key of its
// audit log, and not that of the auditor.
func TestResumePointsCannotBeForged(t *testing.T) {
	signer, verifier := keys(t)
	auditor, _ := fixedKeys(t)
	log, anchors := logged(t, signer, entries(t, 0, 600), 300, 600)
	r, _ := from(t, log, verifier, anchors, nil, false)
	signed, err := audit.SignResume(r.Resume, auditor)
	require.NoError(t, err)
	again, err := audit.OpenResume(signed, auditor)
	require.NoError(t, err)
	assert.Equal(t, r.Resume, again)

	_, err = audit.SignResume(r.Resume, signer)
	assert.ErrorContains(t, err, "signs the log itself")
	text, _, _ := bytes.Cut(signed, []byte("\n\n"))
	mine, err := note.Sign(&note.Note{Text: string(text) + "\n"}, signer)
	require.NoError(t, err)
	for name, forged := range map[string][]byte{
		"by the key of the log": mine,
		"changed":               bytes.Replace(signed, []byte(`"size":600`), []byte(`"size":300`), 1),
		"a checkpoint":          log.checkpoints[0].Signed(),
		"empty":                 nil,
		"unsigned":              text,
	} {
		_, err := audit.OpenResume(forged, auditor)
		assert.ErrorIs(t, err, audit.ErrResume, name)
	}
	_, err = audit.OpenResume(mine, signer)
	assert.ErrorIs(t, err, audit.ErrResume, "the auditor has the key of the log")

	_, others := keys(t)
	for name, change := range map[string]func(*audit.Resume){
		"of another log":  func(p *audit.Resume) { p.Origin = "example.com/other" },
		"of another key":  func(p *audit.Resume) { p.Key = others.KeyHash() + 1 },
		"of other notes":  func(p *audit.Resume) { p.Notes[0]++ },
		"too long":        func(p *audit.Resume) { p.Size = 601 },
		"with few peaks":  func(p *audit.Resume) { p.Peaks = p.Peaks[1:] },
		"restored before": func(p *audit.Resume) { p.Restored = []uint64{3} },
	} {
		point := *again
		point.Peaks = slices.Clone(point.Peaks)
		change(&point)
		r, read := from(t, log, verifier, anchors, &point, false)
		assert.Zero(t, read, name)
		assert.Equal(t, audit.VerdictOK, r.Verdict, name)
	}
}
