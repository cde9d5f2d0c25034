package audit

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestAuditShowGoesByTheEntries changes the index of calls, as an attacker that can write the store may: a call that
// it hides is found by its entries, and an entry of another call is none of this one.
func TestAuditShowGoesByTheEntries(t *testing.T) {
	for _, c := range []struct{ change, call, err string }{
		{"DELETE FROM call WHERE call = 'c0'", "c0", ""},
		{"DELETE FROM call WHERE call = 'c0'", "c9", `there is no call "c9"`},
		{"UPDATE call SET entries = entries || ',' || 60 WHERE call = 'c0'", "c0", "does not fit its entry 60"},
		{"UPDATE call SET entries = '[' WHERE call = 'c0'", "c0", "malformed JSON"},
	} {
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
		changed, err := db.Exec(c.change)
		require.NoError(t, err)
		n, err := changed.RowsAffected()
		require.NoError(t, errors.Join(err, db.Close()))
		require.EqualValues(t, 1, n)

		r, err := sqlite.OpenReader(path)
		require.NoError(t, err)
		shows, err := shown(t.Context(), r, r, 0, "", c.call)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
		} else {
			require.NoError(t, err)
			require.Equal(t, list[:49], shows)
		}
		require.NoError(t, r.Close())
	}
}

// TestAuditShowReadsTheCallAlone makes all entries unreadable but those of a call.
func TestAuditShowReadsTheCallAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	var list []journal.Entry
	for seq := uint64(1); seq <= 1000; seq++ {
		list = append(list, journal.Entry{Seq: seq, Kind: "k", Session: "s", Call: fmt.Sprint("c", seq%100), Leaf: []byte(`{}`)})
	}
	require.NoError(t, s.Append(t.Context(), list))
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(unreadable + ` WHERE call <> 'c70'`)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for _, session := range []string{"s", ""} {
		err := new(store.Segments).With(t.Context(), r, func(from store.Reader, _ []*archive.File) error {
			shows, err := shown(t.Context(), r, from, 0, session, "c70")
			require.Len(t, shows, 10)
			return err
		})
		require.NoError(t, err)
	}
	_, err = shown(t.Context(), r, r, 0, "s", "c700")
	require.ErrorContains(t, err, "damaged at entry 1", "a call that the index has not is looked for in all entries")
}
