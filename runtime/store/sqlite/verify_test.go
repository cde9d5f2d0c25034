package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A trail is a store with a tree of its entries, and what proves it.
type trail struct {
	path     string
	verifier note.Verifier
	anchored [][]byte
	leaves   [][]byte
}

// Anchor keeps a note.
func (l *trail) Anchor(_ context.Context, signed []byte) error {
	l.anchored = append(l.anchored, bytes.Clone(signed))
	return nil
}

// openTrail makes a store with n entries such as the executor writes, of which
// one in every step has a private part; 0: none.
func openTrail(t testing.TB, n, step int) *trail {
	secret, public, err := audit.GenerateKey("trail")
	require.NoError(t, err)
	signer, err := note.NewSigner(secret)
	require.NoError(t, err)
	l := &trail{path: filepath.Join(t.TempDir(), "trail")}
	l.verifier, err = note.NewVerifier(public)
	require.NoError(t, err)
	s, err := sqlite.Open(l.path)
	require.NoError(t, err)
	log, err := audit.New(t.Context(), s, audit.NewCheckpoints(s), signer, audit.WithAnchor(l))
	require.NoError(t, err)
	for len(l.leaves) < n {
		list := make([]journal.Entry, 0, audit.Interval)
		for len(list) < cap(list) && len(l.leaves) < n {
			e := proven(t, uint64(len(l.leaves)+1), step)
			list, l.leaves = append(list, e), append(l.leaves, e.Leaf)
		}
		require.NoError(t, log.Journal().Append(t.Context(), list))
	}
	require.NoError(t, log.Close(t.Context()))
	require.NoError(t, s.Close())
	return l
}

// proven is an entry of a trail, with a leaf of some 500 bytes.
func proven(t testing.TB, seq uint64, step int) journal.Entry {
	kinds := []string{"tool.validated", "tool.authorized", "tool.started", "tool.executed", "tool.completed"}
	marks := []journal.Mark{journal.MarkOpened, journal.MarkNone, journal.MarkStarted, journal.MarkNone, journal.MarkEnded}
	value, salt := fmt.Sprintf(`"notes/%d.md"`, seq), bytes.Repeat([]byte{byte(seq)}, journal.SaltSize)
	r := &journal.Record{
		Kind: kinds[seq%5], Mark: marks[seq%5], At: time.Unix(1_700_000_000, int64(seq)*1_234_567).UTC(),
		Session: "session-0f3b5d1c", Run: fmt.Sprintf("run-%08x", seq/500), Principal: "alice", Tool: "file_write",
		Call: fmt.Sprintf("call-%08x", uint32(seq/5*2654435761)), ToolVersion: "1.2.0", From: "VALIDATED", To: "AUTHORIZED",
		Pin: "0f343b0931126a20f133d67c2b018a3b5e4e1d7a9f2b8c6d4e5f60718293a4b5", Revision: "2026-01-02",
		Args: &journal.Payload{Bytes: 64, SHA256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"},
	}
	var private []byte
	if step != 0 && seq%uint64(step) == 0 {
		var err error
		private, err = journal.EncodePrivate([]journal.Secret{{Pointer: "/args/value/path", Salt: salt, Value: []byte(value)}})
		require.NoError(t, err)
		value = `"` + journal.Commit(salt, []byte(value)) + `"`
	}
	r.Args.Value = []byte(`{"path":` + value + `}`)
	e, err := journal.NewEntry(seq, r, private)
	require.NoError(t, err)
	return e
}

// TestVerifyNamesWhatWasDone to a store, in whichever page of it.
func TestVerifyNamesWhatWasDone(t *testing.T) {
	const n = 2500
	l := openTrail(t, n, 7)
	verify := func(path string) audit.Report {
		r := openReader(t, path)
		report, err := audit.Verify(t.Context(), audit.NewSource(r, r), l.verifier, l.anchored)
		require.NoError(t, err)
		return report
	}
	require.Equal(t, audit.VerdictOK, verify(l.path).Verdict)
	whole, err := os.ReadFile(l.path)
	require.NoError(t, err)
	for _, at := range []uint64{1, 1024, 1025, 1400, n} {
		for change, class := range map[string]audit.Class{
			"UPDATE entry SET kind = 'tool.denied' WHERE seq = ?":                                           audit.ClassIndex,
			"UPDATE entry SET at = at + 1 WHERE seq = ?":                                                    audit.ClassIndex,
			"UPDATE entry SET leaf = CAST(replace(CAST(leaf AS TEXT), '2.0', '2.1') AS BLOB) WHERE seq = ?": audit.ClassEdited,
			"INSERT OR REPLACE INTO private SELECT seq, session, x'3f' FROM entry WHERE seq = ?":            audit.ClassPrivate,
			"DELETE FROM entry WHERE seq = ?":                                                               audit.ClassUnreadable,
		} {
			path := filepath.Join(t.TempDir(), "store")
			require.NoError(t, os.WriteFile(path, whole, 0o600))
			db := other(t, path)
			_, err := db.Exec("DROP TRIGGER entry_is_not_changed; DROP TRIGGER entry_is_not_deleted; "+change, at)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			bad := verify(path).Bad
			require.NotNil(t, bad, change)
			if class == audit.ClassUnreadable && at == n {
				class = audit.ClassCut
			}
			require.Equal(t, class, bad.Class, change)
			require.Truef(t, bad.Exact(), "%v", bad)
			require.Equal(t, at, bad.First, change)
		}
	}
}
