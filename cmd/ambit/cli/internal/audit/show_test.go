package audit

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// TestAuditShowGoesByTheEntries hides a call in the index of calls, as an attacker that
// can write the store may, and asks for what the journal says of it.
func TestAuditShowGoesByTheEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	var list []journal.Entry
	for seq := uint64(1); seq <= 200; seq++ {
		leaf := []byte(`{"event":"tool.invoked"}`)
		list = append(list, journal.Entry{Seq: seq, Kind: "tool.invoked", Session: "s", Call: fmt.Sprint("c", seq/50), Leaf: leaf})
	}
	require.NoError(t, s.Append(t.Context(), list))
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	hidden, err := db.Exec("DELETE FROM call WHERE call = 'c0'")
	require.NoError(t, err)
	n, err := hidden.RowsAffected()
	require.NoError(t, errors.Join(err, db.Close()))
	require.EqualValues(t, 1, n)

	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	shows, err := shown(t.Context(), r, r, 0, "", "c0")
	require.NoError(t, err)
	require.Equal(t, list[:49], shows)
	_, err = shown(t.Context(), r, r, 0, "", "c9")
	require.ErrorContains(t, err, `there is no call "c9"`)
}
