package audit

import (
	"database/sql"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// TestVerifyReadsTheTreeOfTheSessions removes the tree of a store's sessions, which leaves each of its entries as
// it was, and a part of its root.
func TestVerifyReadsTheTreeOfTheSessions(t *testing.T) {
	for _, query := range []string{"SELECT 1", "DELETE FROM node", "UPDATE owner SET root = zeroblob(32)"} {
		path := filepath.Join(t.TempDir(), "a.db")
		s, err := sqlite.Open(path)
		require.NoError(t, err)
		require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: 1, Kind: "k", Session: "s", Leaf: []byte(`{}`)}}))
		require.NoError(t, s.Close())
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = db.Exec(query)
		require.NoError(t, err)
		require.NoError(t, db.Close())

		r, err := sqlite.OpenReader(path, sqlite.WithKeys(path+".keys"))
		require.NoError(t, err)
		report := &audit.Report{}
		require.NoError(t, authenticate(t.Context(), r, report, true, cmdutil.NewProgress(io.Discard)))
		require.NoError(t, r.Close())
		if query == "SELECT 1" {
			require.Nil(t, report.Bad)
			continue
		}
		require.NotNil(t, report.Bad, query)
		require.Equal(t, audit.ClassSession, report.Bad.Class)
	}
}
