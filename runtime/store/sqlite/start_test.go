package sqlite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// halfDamaged makes a store that was not closed in order, and turns over the page in the middle of its file.
func halfDamaged(t *testing.T) string {
	t.Helper()
	const n, page = 600, 4096
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	list := make([]journal.Entry, n)
	for i := range list {
		list[i] = journal.Entry{Seq: uint64(i + 1), Kind: "k", Session: "s", Leaf: bytes.Repeat([]byte{byte(i)}, 1000)}
	}
	require.NoError(t, s.Append(t.Context(), list))
	require.NoError(t, s.SaveCheckpoint(t.Context(), n, []byte("note")))
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("UPDATE owner SET closed = 0")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range page {
		data[len(data)/2/page*page+i] ^= 0xff
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// TestAStartChecksNoLargeFile: after a crash a file above the limit is not read as a whole. It opens, takes
// entries, and its damage is found by what reads there.
func TestAStartChecksNoLargeFile(t *testing.T) {
	path := halfDamaged(t)
	var corrupt *CorruptError
	_, err := Open(path)
	require.ErrorAs(t, err, &corrupt)

	was := checkUpTo
	defer func() { checkUpTo = was }()
	checkUpTo = 100_000
	s, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: 601, Kind: "k", Session: "s", Leaf: []byte("{}")}}))
	list, err := s.Read(t.Context(), 0, 1000)
	require.ErrorAs(t, err, &corrupt)
	require.EqualValues(t, len(list)+1, corrupt.DamagedAt())
	list, err = s.Read(t.Context(), 590, 1000)
	require.NoError(t, err)
	require.Len(t, list, 11)
	require.NoError(t, s.Close())
}

// TestRecentCheckpoints: the last ones are read by the index, and one that is not authentic is met by the
// query that returns it.
func TestRecentCheckpoints(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	require.NoError(t, err)
	for seq := uint64(1); seq <= 5; seq++ {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: seq, Kind: "k", Session: "s", Leaf: []byte("{}")}}))
		require.NoError(t, s.SaveCheckpoint(t.Context(), seq, []byte{byte(seq)}))
	}
	sizes := func(size uint64, most int) (list []uint64) {
		points, err := s.RecentCheckpoints(t.Context(), size, most)
		require.NoError(t, err)
		for _, p := range points {
			require.Equal(t, []byte{byte(p.Size)}, p.Note)
			list = append(list, p.Size)
		}
		return list
	}
	require.Equal(t, []uint64{5, 4}, sizes(1<<64-1, 2))
	require.Equal(t, []uint64{3, 2, 1}, sizes(3, 9))
	require.Empty(t, sizes(0, 9))
	require.Empty(t, sizes(3, 0))
	require.Empty(t, sizes(3, -1))

	require.NoError(t, s.change(t.Context(), func(w *writer) error {
		_, err := w.c.exec("UPDATE checkpoint SET note = x'00' WHERE size = 2")
		return err
	}))
	require.Equal(t, []uint64{5, 4, 3}, sizes(9, 3))
	_, err = s.RecentCheckpoints(t.Context(), 2, 1)
	require.ErrorIs(t, err, ErrForged)
	require.NoError(t, s.Close())
}
