package audit

import (
	"database/sql"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// unreadable puts a value into an entry that the schema of a store refuses.
const unreadable = `PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'entry';
DELETE FROM sqlite_schema WHERE type = 'trigger';
PRAGMA writable_schema = RESET;
UPDATE entry SET leaf = 'text'`

// TestVerifyReadsTheTreeOfTheSessions removes the tree of a store's sessions, which leaves each of its entries as
// it was, and a part of its root.
func TestVerifyReadsTheTreeOfTheSessions(t *testing.T) {
	for query, class := range map[string]audit.Class{
		"SELECT 1": "", "DELETE FROM call": audit.ClassIndex, "DELETE FROM node": audit.ClassSession, "UPDATE owner SET root = zeroblob(32)": audit.ClassSession,
		unreadable: audit.ClassUnreadable,
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		s, err := sqlite.Open(path)
		require.NoError(t, err)
		require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: 1, Kind: "k", Session: "s", Call: "c", Leaf: []byte(`{}`)}}))
		require.NoError(t, s.Close())
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = db.Exec(query)
		require.NoError(t, err)
		require.NoError(t, db.Close())

		r, err := sqlite.OpenReader(path, sqlite.WithKeys(path+".keys"))
		require.NoError(t, err)
		report := &audit.Report{}
		index, err := r.CheckIndex(t.Context())
		require.NoError(t, err)
		require.NoError(t, authenticate(t.Context(), r, report, true, cmdutil.NewProgress(io.Discard), index, new(deletions)))
		require.NoError(t, r.Close())
		if query == "SELECT 1" {
			require.Nil(t, report.Bad)
			continue
		}
		require.NotNil(t, report.Bad, query)
		require.Equal(t, class, report.Bad.Class, query)
	}
}
