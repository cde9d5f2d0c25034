package audit_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

const tamperStep = audit.Interval

// tamperPositions returns how long a log is, and the positions at which it is
// tampered with. A verification reads what comes before the position, so that a log
// that is three times as long takes ten times as long.
func tamperPositions(t *testing.T) (length int, positions []int) {
	length, step := min(battery.Count(t, 400, 1000), 3000), 1
	if !battery.Full(t) {
		step = 7
	}
	for at := 0; at < length; at += step {
		positions = append(positions, at)
	}
	return length, positions
}

// renumber makes positions follow each other again, as an attacker would to hide a
// change.
func renumber(list []journal.Entry) []journal.Entry {
	for i := range list {
		list[i].Seq = uint64(i + 1)
	}
	return list
}

// forge returns an entry at a position that says something else.
func forge(t testing.TB, seq uint64) journal.Entry {
	t.Helper()
	e := entry(t, seq)
	r, err := journal.Decode(e.Leaf)
	require.NoError(t, err)
	r.Principal = "mallory"
	e, err = journal.NewEntry(seq, r, nil)
	require.NoError(t, err)
	return e
}

// TestTamperingIsFound changes a log at each position in each of four ways, without
// the key, and wants the position named.
func TestTamperingIsFound(t *testing.T) {
	signer, verifier := keys(t)
	length, positions := tamperPositions(t)
	list := entries(t, 0, length+tamperStep/2)
	good, anchored := logged(t, signer, list, every(tamperStep, len(list))...)
	require.Len(t, anchored, len(good.checkpoints))
	r := verify(t, good, verifier, anchored)
	require.Equal(t, audit.VerdictOK, r.Verdict)
	require.EqualValues(t, len(list), r.Anchored)

	t.Run("edited", func(t *testing.T) {
		for _, at := range positions {
			s := good.clone()
			s.entries[at] = forge(t, uint64(at+1))
			wantFault(t, verify(t, s, verifier, nil), at+1, audit.ClassEdited)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		for _, at := range positions {
			s := good.clone()
			s.entries = slices.Delete(s.entries, at, at+1)
			wantFault(t, verify(t, s, verifier, nil), at+1, audit.ClassDeleted)
			renumber(s.entries)
			r := verify(t, s, verifier, nil)
			require.NotNil(t, r.Bad, at)
			require.True(t, r.Bad.Exact())
			require.EqualValues(t, at+1, r.Bad.First)
		}
	})
	t.Run("swapped", func(t *testing.T) {
		for _, at := range positions {
			s := good.clone()
			s.entries[at], s.entries[at+1] = s.entries[at+1], s.entries[at]
			renumber(s.entries)
			r := verify(t, s, verifier, nil)
			require.NotNil(t, r.Bad, at)
			require.Equal(t, []uint64{uint64(at + 1), uint64(at + 1)}, []uint64{r.Bad.First, r.Bad.Last}, r.Bad.Error())
		}
	})
	t.Run("cut", func(t *testing.T) {
		for _, at := range positions {
			s := good.clone()
			s.entries = s.entries[:at]
			wantFault(t, verify(t, s, verifier, nil), at+1, audit.ClassCut)
			// Without the checkpoints too, which only the anchor can tell.
			s.checkpoints = slices.DeleteFunc(s.checkpoints, func(c audit.Checkpoint) bool { return c.Size > uint64(at) })
			wantFault(t, verify(t, s, verifier, anchored), at+1, audit.ClassCut)
		}
	})
}

// TestRewritingIsFound signs everything anew with the stolen key, with one entry
// changed, at each position.
func TestRewritingIsFound(t *testing.T) {
	signer, verifier := keys(t)
	length, positions := tamperPositions(t)
	list := entries(t, 0, length+tamperStep/2)
	_, anchored := logged(t, signer, list, every(tamperStep, len(list))...)
	for _, at := range positions {
		forged := slices.Clone(list)
		forged[at] = forge(t, uint64(at+1))
		s, _ := logged(t, signer, forged, every(tamperStep, len(list))...)
		require.True(t, verify(t, s, verifier, nil).OK, "who has the key is trusted")
		r := verify(t, s, verifier, anchored)
		require.NotNil(t, r.Bad, at)
		require.Equal(t, audit.ClassRewritten, r.Bad.Class)
		require.EqualValues(t, at/tamperStep*tamperStep+1, r.Bad.First, "what the anchored checkpoints allow")
		require.EqualValues(t, min((at/tamperStep+1)*tamperStep, len(list)), r.Bad.Last)
	}
}

func wantFault(t *testing.T, r audit.Report, at int, class audit.Class) {
	t.Helper()
	require.NotNil(t, r.Bad, at)
	require.Equal(t, audit.VerdictBad, r.Verdict)
	require.Equal(t, []any{class, uint64(at), uint64(at)}, []any{r.Bad.Class, r.Bad.First, r.Bad.Last}, r.Bad.Error())
}

// TestRewrittenWithoutTheKey holds that an attacker without the key gains nothing by
// changing the hints, the notes, or both.
func TestRewrittenWithoutTheKey(t *testing.T) {
	signer, verifier := keys(t)
	other, _ := keys(t)
	list := entries(t, 0, 200)
	good, anchored := logged(t, signer, list, 50, 100, 150)
	forged := slices.Clone(list)
	forged[119] = forge(t, 120)
	theirs, _ := logged(t, other, forged, 50, 100, 150)

	t.Run("signed by another key", func(t *testing.T) {
		r := verify(t, theirs, verifier, nil)
		require.Equal(t, audit.ClassCheckpoint, r.Bad.Class)
		assert.Equal(t, "within 1 to 50", r.Bad.Error()[len("checkpoint "):][:len("within 1 to 50")])
		r = verify(t, theirs, verifier, anchored)
		assert.Equal(t, audit.ClassCheckpoint, r.Bad.Class, "the entries are good up to an anchored note: %v", r.Bad)
	})
	t.Run("hints changed too", func(t *testing.T) {
		s := good.clone()
		s.entries = theirs.entries
		for i := range s.checkpoints {
			_, hints, _ := bytes.Cut(theirs.checkpoints[i].Note, []byte{0})
			s.checkpoints[i].Note = slices.Concat(s.checkpoints[i].Signed(), []byte{0}, hints)
		}
		r := verify(t, s, verifier, nil)
		require.Equal(t, audit.ClassRewritten, r.Bad.Class)
		assert.Equal(t, []uint64{101, 150}, []uint64{r.Bad.First, r.Bad.Last}, "the interval is what is left to know")
	})
	t.Run("later checkpoints removed", func(t *testing.T) {
		s := good.clone()
		s.entries, s.checkpoints = theirs.entries, s.checkpoints[:2]
		r := verify(t, s, verifier, nil)
		assert.True(t, r.OK)
		assert.Equal(t, audit.VerdictNotAnchored, r.Verdict)
		assert.EqualValues(t, 100, r.Unproved())
		r = verify(t, s, verifier, anchored)
		assert.Equal(t, []uint64{101, 150}, []uint64{r.Bad.First, r.Bad.Last})
	})
	t.Run("all checkpoints removed", func(t *testing.T) {
		s := &store{entries: theirs.entries}
		r := verify(t, s, verifier, nil)
		assert.Equal(t, audit.ClassUnsigned, r.Bad.Class)
		r = verify(t, s, verifier, anchored)
		assert.Equal(t, audit.ClassRewritten, r.Bad.Class)
		assert.Equal(t, []uint64{101, 150}, []uint64{r.Bad.First, r.Bad.Last})
	})
}

// TestForgedNotes holds that a note that is not signed is told from entries that
// are not what they were.
func TestForgedNotes(t *testing.T) {
	signer, verifier := keys(t)
	list := entries(t, 0, 200)
	good, anchored := logged(t, signer, list, 50, 100, 150)
	t.Run("one checkpoint forged, entries good", func(t *testing.T) {
		s := good.clone()
		s.checkpoints[1].Note = slices.Clone(s.checkpoints[1].Note)
		s.checkpoints[1].Note[len("test.example/log\n1")] ^= 1
		wantFault(t, verify(t, s, verifier, nil), 100, audit.ClassCheckpoint)
		s.entries[119] = forge(t, 120)
		wantFault(t, verify(t, s, verifier, nil), 120, audit.ClassEdited)
	})
	t.Run("a checkpoint under another size", func(t *testing.T) {
		s := good.clone()
		s.checkpoints[1].Size = 90
		wantFault(t, verify(t, s, verifier, nil), 90, audit.ClassCheckpoint)
	})
	t.Run("anchored note forged", func(t *testing.T) {
		bad := bytes.Replace(anchored[1], []byte("\n100\n"), []byte("\n101\n"), 1)
		r := verify(t, good, verifier, [][]byte{anchored[0], bad})
		assert.Equal(t, audit.ClassAnchor, r.Bad.Class)
	})
	t.Run("anchored notes of another log", func(t *testing.T) {
		r := verify(t, good, verifier, [][]byte{[]byte("other\n1\nx\n\n— other x\n")})
		assert.Equal(t, audit.VerdictNotAnchored, r.Verdict)
	})
}

// TestNothingRandomGoesUnnoticed holds the property of which the classes are
// examples: after any change of the entries the report is bad, and what is before
// the position that it names is what was written.
func TestNothingRandomGoesUnnoticed(t *testing.T) {
	signer, verifier := keys(t)
	list := entries(t, 0, 300)
	good, anchored := logged(t, signer, list, 10, 11, 64, 65, 200)
	for seed := range uint64(battery.Count(t, 300, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := good.clone()
		for range rng.IntN(3) + 1 {
			mutate(t, rng, s)
		}
		first := firstDifference(good.entries, s.entries)
		if rng.IntN(3) == 0 {
			i := rng.IntN(len(s.checkpoints))
			s.checkpoints = slices.Delete(s.checkpoints, i, i+1)
		}
		r := verify(t, s, verifier, anchored)
		if first == 0 {
			require.Nil(t, r.Bad, seed)
			continue
		}
		require.NotNil(t, r.Bad, "seed %d: position %d", seed, first)
		if r.Bad.First > first {
			require.LessOrEqual(t, max(r.Signed, r.Anchored), first, "seed %d: %v", seed, r.Bad)
			require.Contains(t, r.Bad.What, "nothing proves", "seed %d", seed)
		}
		require.GreaterOrEqual(t, r.Bad.Last, first, "seed %d: %v", seed, r.Bad)
		if len(s.checkpoints) == len(good.checkpoints) {
			require.Equal(t, first, r.Bad.First, "seed %d: %v", seed, r.Bad)
			require.True(t, r.Bad.Exact(), "seed %d: %v", seed, r.Bad)
		}
	}
}

// mutate changes the entries of s somehow.
func mutate(t *testing.T, rng *rand.Rand, s *store) {
	n := len(s.entries)
	if n < 2 {
		return
	}
	i, k := rng.IntN(n), rng.IntN(n)
	switch rng.IntN(8) {
	case 0:
		s.entries[i] = forge(t, s.entries[i].Seq)
	case 1:
		s.entries[i].Leaf = slices.Clone(s.entries[i].Leaf)
		s.entries[i].Leaf[rng.IntN(len(s.entries[i].Leaf))] ^= 1 << rng.IntN(8)
	case 2:
		s.entries = slices.Delete(s.entries, min(i, k), max(i, k))
	case 3:
		s.entries = renumber(slices.Delete(s.entries, i, i+1))
	case 4:
		s.entries[i], s.entries[k] = s.entries[k], s.entries[i]
		s.entries[i].Seq, s.entries[k].Seq = s.entries[k].Seq, s.entries[i].Seq
	case 5:
		s.entries = renumber(slices.Insert(s.entries, i, s.entries[k]))
	case 6:
		s.entries = s.entries[:i]
	case 7:
		s.entries[i].Session = "other"
	}
}

// firstDifference returns the first position at which a log is not what it was;
// 0: it is.
func firstDifference(was, is []journal.Entry) uint64 {
	for i, e := range was {
		if i >= len(is) || is[i].Seq != e.Seq || is[i].Session != e.Session || is[i].Call != e.Call || !bytes.Equal(is[i].Leaf, e.Leaf) {
			return uint64(i + 1)
		}
	}
	if len(is) > len(was) {
		return uint64(len(was) + 1)
	}
	return 0
}
