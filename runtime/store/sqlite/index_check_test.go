package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// indexForgeries change what the index says of a call or a request.
var indexForgeries = []string{
	"DELETE FROM call WHERE session = 's3' AND call = 'c290'",
	"UPDATE call SET call = 'c' WHERE session = 's3' AND call = 'c290'",
	"UPDATE call SET session = 's' WHERE session = 's3' AND call = 'c290'",
	"UPDATE call SET entries = substr(entries, 6) WHERE session = 's3' AND call = 'c290'",
	"UPDATE call SET entries = '0,' || entries WHERE session = 's3' AND call = 'c290'",
	"UPDATE call SET entries = entries || ',' WHERE session = 's3' AND call = 'c290'",
	"DELETE FROM request WHERE id = 'q8901'",
	"UPDATE request SET id = 'q' WHERE id = 'q8901'",
	"UPDATE request SET call = 'd' WHERE id = 'q8901'",
	"UPDATE request SET session = 'd' WHERE id = 'q8901'",
	"UPDATE request SET open = 1 WHERE id = 'q8901'",
	"UPDATE request SET steps = '8901a', open = 1 WHERE id = 'q8901'",
	"UPDATE request SET steps = '8901' WHERE id = 'q8901'",
	"UPDATE request SET expires = expires - 1 WHERE id = 'q8901'",
	"UPDATE request SET live = 1 WHERE id = 'q8901'",
	"UPDATE request SET asked = 8900 WHERE id = 'q8901'",
}

// TestIndexIsComparedWithTheEntries hides and forges what the index says of calls and requests.
func TestIndexIsComparedWithTheEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	var list []journal.Entry
	for seq := uint64(1); seq <= 9000; seq++ {
		e := journal.Entry{Seq: seq, Kind: "k", Session: fmt.Sprint("s", seq%7), Call: fmt.Sprint("c", seq/30), Leaf: []byte(`{}`)}
		switch seq % 100 {
		case 1:
			e.Leaf = fmt.Appendf(nil, `{"consent":[{"kind":"asked","request":"q%d","call":"c","asked":{"id":"q","session":"s","expires":"2030-01-01T00:00:00Z"}}]}`, seq)
		case 8: // of the same session
			e.Leaf = fmt.Appendf(nil, `{"consent":[{"kind":"used","request":"q%d","call":"c"}]}`, seq-7)
		case 9:
			e.Call = ""
		}
		list = append(list, e)
	}
	for part := range slices.Chunk(list, 50) {
		require.NoError(t, s.Append(t.Context(), part))
	}
	require.NoError(t, s.Close())
	clean, err := os.ReadFile(path)
	require.NoError(t, err)
	compare := func(after uint64, change string) error {
		require.NoError(t, os.WriteFile(path, clean, 0o600))
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = db.Exec(change)
		require.NoError(t, err, change)
		require.NoError(t, db.Close())
		r, err := OpenReader(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		check, err := r.CheckIndex(t.Context())
		require.NoError(t, err)
		for part := range slices.Chunk(list[after:], 400) {
			check.Note(part)
			check.Note(part[:1]) // twice
		}
		return check.Compare(t.Context(), after)
	}
	require.NoError(t, compare(0, "SELECT 1"))
	require.NoError(t, compare(5000, "SELECT 1"))
	require.NoError(t, compare(5000, "DELETE FROM call WHERE first < 4000"), "these entries were not read")
	for _, change := range indexForgeries {
		for _, after := range []uint64{0, 4000} {
			err := compare(after, change)
			var wrong *IndexError
			if !strings.Contains(change, "'0,'") || after == 0 {
				require.ErrorAs(t, err, &wrong, change)
			}
		}
	}
}
