package sqlite_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestLogDoesNotGrowWithCrashes lets owner after owner crash before the
// write-ahead log is due to be moved: what the next one finds is a copy of the
// files that was made before the store was closed.
func TestLogDoesNotGrowWithCrashes(t *testing.T) {
	dir := t.TempDir()
	size := func(path string) int64 {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Size()
	}
	path := filepath.Join(dir, "0")
	var first int64
	for life := range uint64(20) {
		s, err := sqlite.Open(path)
		require.NoError(t, err)
		require.Equal(t, life, s.Epoch()-1)
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(life+1, 100_000)}))
		next := filepath.Join(dir, strconv.Itoa(int(life)+1))
		for _, part := range []string{"", "-wal", ".keys"} {
			if text, err := os.ReadFile(path + part); err == nil {
				require.NoError(t, os.WriteFile(next+part, text, 0o600))
			}
		}
		require.NoError(t, s.Close())
		path = next
		if life == 1 {
			first = size(path + "-wal")
		}
	}
	require.LessOrEqual(t, size(path+"-wal"), 2*first)
	require.Greater(t, size(path), int64(18*100_000))
}
