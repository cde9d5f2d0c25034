package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestASegmentHasItsEntries(t *testing.T) {
	s := newStore(t, 2600)
	for _, r := range [][2]uint64{{1, 1}, {1, 1024}, {1, 2600}, {2, 1025}, {1025, 2600}, {2600, 2600}} {
		f := s.segment(t, r[0], r[1])
		require.NoError(t, f.Prove(t.Context()))
		require.NoError(t, f.Signed(s.verifier))
		for _, limit := range []int{1, 7, 1024, 5000} {
			if limit == 1 && r[1]-r[0] > 2000 {
				continue
			}
			list, err := readAll(t, f, 0, limit)
			require.NoError(t, err)
			require.Equal(t, s.entries[r[0]-1:r[1]], list)
		}
		list, err := f.Read(t.Context(), r[1], 1)
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

func TestALargeEntryHasAFrameOfItsOwn(t *testing.T) {
	s := newStore(t, 3)
	s.entries[1].Leaf = []byte(`{"event":"a","at":"2026-01-01T00:00:00Z","revision":"` + strings.Repeat("x", 3*frameFull) + `"}`)
	f := s.segment(t, 1, 3)
	require.Len(t, f.index.Frames, 3)
	require.NoError(t, f.Prove(t.Context()))
	list, err := readAll(t, f, 0, 10)
	require.NoError(t, err)
	require.Equal(t, s.entries[1].Leaf, list[1].Leaf)
}

// TestWriteLeavesNothingHalf holds that a segment that would prove nothing gets no name.
func TestWriteLeavesNothingHalf(t *testing.T) {
	s := newStore(t, 10)
	good := s.header(t, 1, 10)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.segment")
	for name, spoil := range map[string]func(*Header){
		"root":     func(h *Header) { h.Root[0]++ },
		"last":     func(h *Header) { h.Last = 11 },
		"first":    func(h *Header) { h.First = 0 },
		"before":   func(h *Header) { h.Before = []tlog.Hash{{}} },
		"store":    func(h *Header) { h.Store = "x" },
		"origin":   func(h *Header) { h.Origin = "other" },
		"no entry": func(h *Header) { *h = s.header(t, 1, 10); h.Last = 12; h.Note = h.said() },
		"not its entries": func(h *Header) {
			h.Root[0]++
			h.Note = h.said()
		},
	} {
		h := good
		spoil(&h)
		_, err := WriteFile(t.Context(), path, h, s)
		require.Error(t, err, name)
		require.NoFileExists(t, path, name)
	}
	info, err := WriteFile(t.Context(), path, good, s)
	require.NoError(t, err)
	stat, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, stat.Size(), info.Bytes)
	assert.Equal(t, opened(t, path).Digest(), info.Digest)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 1, "the part is gone")
	_, err = WriteFile(t.Context(), path, good, s)
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, look(t, path))
}

func TestWriteRefusesAJournalWithAGap(t *testing.T) {
	s := newStore(t, 10)
	h := s.header(t, 1, 10)
	s.entries[4].Seq = 6
	_, err := WriteFile(t.Context(), filepath.Join(t.TempDir(), "a"), h, s)
	require.ErrorIs(t, err, journal.ErrNoEntry)
	require.ErrorContains(t, err, "entry 5")
}

func TestSignedIsHeldToTheKey(t *testing.T) {
	s, other := newStore(t, 5), newStore(t, 5)
	f := s.segment(t, 1, 5)
	require.ErrorContains(t, f.Signed(other.verifier), "has not signed")
	h := s.header(t, 1, 5)
	h.Note = h.said() + "\n— nobody\n"
	require.Error(t, opened(t, s.write(t, h)).Signed(s.verifier))
	h.Origin = "elsewhere"
	h.Note = h.said()
	require.ErrorContains(t, opened(t, s.write(t, h)).Signed(s.verifier), `of the log "elsewhere"`)
	var e *Error
	require.True(t, errors.As(f.Signed(other.verifier), &e))
}
