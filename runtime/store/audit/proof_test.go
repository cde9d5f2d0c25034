package audit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

// TestProofsAreWhatIsSigned holds that a checkpoint which another key has signed, whose tree was changed or that stands for
// another size proves nothing, and that an anchored note of another log counts for nothing.
func TestProofsAreWhatIsSigned(t *testing.T) {
	signer, verifier := keys(t)
	list := entries(t, 0, 100)
	s, anchored := logged(t, signer, list, 10, 30, 64)
	proofs, upTo := audit.Proofs(s.checkpoints, anchored, verifier)
	require.EqualValues(t, 100, upTo)
	var tree merkle.Tree
	want := map[uint64]tlog.Hash{}
	for i := range list {
		tree.Add(audit.LeafHash(list[i].Leaf))
		want[tree.Size] = tree.Root()
	}
	require.Len(t, proofs, 4)
	for i, size := range []uint64{10, 30, 64, 100} {
		p := proofs[i]
		assert.Equal(t, size, p.Size)
		assert.Equal(t, want[size], p.Root)
		assert.Equal(t, want[size], (&merkle.Tree{Size: size, Peaks: p.Peaks}).Root())
		assert.Equal(t, s.checkpoints[i].Signed(), p.Note)
	}
	_, upTo = audit.Proofs(s.checkpoints, anchored[:2], verifier)
	assert.EqualValues(t, 30, upTo)
	_, upTo = audit.Proofs(s.checkpoints, nil, verifier)
	assert.Zero(t, upTo)

	bad := s.clone()
	for i := range bad.checkpoints {
		bad.checkpoints[i].Note = append([]byte(nil), bad.checkpoints[i].Note...)
	}
	bad.checkpoints[1].Size = 31
	bad.checkpoints[2].Note[len(bad.checkpoints[2].Signed())+1]++ // a hash of the tree
	proofs, upTo = audit.Proofs(bad.checkpoints, anchored[:3], verifier)
	require.Len(t, proofs, 2)
	assert.EqualValues(t, 10, proofs[0].Size)
	assert.EqualValues(t, 100, proofs[1].Size)
	assert.EqualValues(t, 10, upTo, "no checkpoint with a tree is of the other notes")

	changed := slices.Clone(list)
	changed[0].Leaf = changed[1].Leaf
	other, _ := logged(t, signer, changed, 10, 30, 64)
	_, upTo = audit.Proofs(other.checkpoints, anchored, verifier)
	assert.Zero(t, upTo, "the anchored notes are of another journal")
	_, foreign := keys(t)
	proofs, upTo = audit.Proofs(s.checkpoints, anchored, foreign)
	assert.Empty(t, proofs)
	assert.Zero(t, upTo)
}

// TestSegmentsInAReport joins those that follow each other, and a fault is the verdict.
func TestSegmentsInAReport(t *testing.T) {
	var r audit.Report
	r.Segment(audit.Span{First: 1, Last: 10}, nil)
	r.Segment(audit.Span{First: 11, Last: 30}, nil)
	r.Segment(audit.Span{First: 41, Last: 50}, nil)
	assert.Equal(t, []audit.Span{{First: 1, Last: 30}, {First: 41, Last: 50}}, r.Archived)
	bad := &audit.Fault{Class: audit.ClassArchive, First: 51, Last: 60}
	r.Segment(audit.Span{}, bad)
	assert.Equal(t, audit.VerdictBad, r.Verdict)
	assert.Equal(t, bad, r.Bad)
	r.Segment(audit.Span{First: 61, Last: 70}, nil)
	assert.Len(t, r.Archived, 2)
}
