package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// killed returns what is left of a store whose process was killed after n appends
// of one entry: all of them in the write-ahead log.
func killed(t *testing.T, n int) string {
	from, path := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "store")
	s := open(t, from)
	for i := range n {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(uint64(i+1), 300)}))
	}
	for _, part := range []string{"", "-wal", ".keys"} {
		text, err := os.ReadFile(from + part)
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+part, text, 0o600))
		}
	}
	return path
}

// sizeOf returns how long a file is.
func sizeOf(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// TestDamagedLogIsTold damages a write-ahead log somewhere, before what SQLite
// would write over then.
func TestDamagedLogIsTold(t *testing.T) {
	const n = 60
	size := sizeOf(t, killed(t, n)+"-wal")
	for name, at := range map[string]int64{"its head": 20, "a page": size / 2, "the head of a frame": 32 + 4120*30 + 9, "the number of pages": 32 + 4120*40 + 7} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, n)
			scribble(t, path+"-wal", at, 1)
			before, err := os.ReadFile(path + "-wal")
			require.NoError(t, err)
			var corrupt *sqlite.CorruptError
			require.ErrorAs(t, refused(t, path), &corrupt)
			assert.ErrorContains(t, corrupt, "its write-ahead log is not whole at byte ")
			assert.Less(t, corrupt.Readable, uint64(n-1))
			assert.Equal(t, corrupt.Readable+1, corrupt.DamagedAt())
			after, err := os.ReadFile(path + "-wal")
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

// TestTornLogIsNoDamage: what a crash tears was never acknowledged.
func TestTornLogIsNoDamage(t *testing.T) {
	const n = 60
	size := sizeOf(t, killed(t, n)+"-wal")
	for name, tear := range map[string]func(path string){
		"not torn": func(string) {},
		"cut":      func(path string) { require.NoError(t, os.Truncate(path, size-2000)) },
		"a page":   func(path string) { scribble(t, path, size-2000, 1000) },
		"a tail":   func(path string) { scribble(t, path, size, 5000) },
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, n)
			tear(path + "-wal")
			assert.GreaterOrEqual(t, open(t, path).Health().Head, uint64(n-1))
		})
	}
}

func TestLogWithoutItsFileIsTold(t *testing.T) {
	path := killed(t, 9)
	require.NoError(t, os.Truncate(path, 0))
	before := sizeOf(t, path+"-wal")
	var corrupt *sqlite.CorruptError
	require.ErrorAs(t, refused(t, path), &corrupt)
	require.NoError(t, os.Remove(path))
	_, err := sqlite.Open(path)
	require.ErrorAs(t, err, &corrupt)
	assert.ErrorContains(t, err, "its file is empty or gone, and its write-ahead log is not")
	assert.Equal(t, before, sizeOf(t, path+"-wal"))
	assert.NoFileExists(t, path)

	require.NoError(t, os.Remove(path+"-wal"))
	_, err = sqlite.Open(path)
	require.ErrorIs(t, err, sqlite.ErrRolledBack, "by its keys file there was a store")
	require.NoError(t, os.Remove(path+".keys"))
	open(t, path)
}
