package sqlite_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

const manySessions = 60 // so that the tree of the sessions has more than one node

func sessionName(i int) string { return fmt.Sprint("s", i) }

// manied makes a store of many sessions and closes it; older is a copy of it as it was closed before.
func manied(t *testing.T) (path, older string) {
	dir := t.TempDir()
	path, older = filepath.Join(dir, "store"), filepath.Join(dir, "older")
	seq := uint64(0)
	for round := range 2 {
		s, err := sqlite.Open(path)
		require.NoError(t, err)
		for range 3 {
			var list []journal.Entry
			for i := range manySessions {
				seq++
				list = append(list, journal.Entry{Seq: seq, Kind: "k", Session: sessionName(i), Leaf: fmt.Append(nil, seq)})
			}
			require.NoError(t, s.Append(t.Context(), list))
		}
		require.NoError(t, s.Close())
		if round == 0 {
			copyStore(t, path, older)
		}
	}
	return path, older
}

// spoiled returns a changed copy of a store.
func spoiled(t *testing.T, from, query string, args ...any) string {
	path := filepath.Join(t.TempDir(), "store")
	copyStore(t, from, path)
	change(t, path, query, args...)
	return path
}

// A sessionReader is what a store and a reader of it have in common.
type sessionReader interface {
	Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error
}

// readBack returns the positions of a session, the last one first.
func readBack(ctx context.Context, j sessionReader, session string) (list []uint64, err error) {
	err = j.Back(ctx, session, math.MaxUint64, func(e *journal.Entry) bool {
		list = append(list, e.Seq)
		return true
	})
	return list, err
}

// verifyWithKeys does what "ambit audit verify --keys" does.
func verifyWithKeys(ctx context.Context, path string) error {
	_, err := sqlite.VerifyCopy(ctx, path)
	return err
}

// positions returns where the entries of a session of manied are, the last one first.
func positions(i int) (list []uint64) {
	for round := 5; round >= 0; round-- {
		list = append(list, uint64(round*manySessions+i+1))
	}
	return list
}

// TestForgedSessionsAreRefused cuts, removes, renames and swaps sessions below the head: a start does not read
// them, and each is refused when it is read, or is what it was.
func TestForgedSessionsAreRefused(t *testing.T) {
	path, older := manied(t)
	require.NoError(t, verifyWithKeys(t.Context(), path))
	for what, query := range map[string]string{
		"cut":         "DELETE FROM entry WHERE seq = (SELECT max(seq) FROM entry WHERE session = 's7')",
		"removed":     "DELETE FROM entry WHERE session = 's7'; DELETE FROM session WHERE id = 's7'; DELETE FROM call WHERE session = 's7'",
		"renamed":     "UPDATE entry SET session = 'another' WHERE session = 's7'; UPDATE session SET id = 'another' WHERE id = 's7'",
		"swapped":     "UPDATE entry SET session = iif(session = 's7', 's8', 's7') WHERE session IN ('s7', 's8')",
		"rolled back": "ATTACH '" + older + "' AS older; UPDATE entry SET leaf = (SELECT leaf FROM older.entry o WHERE o.seq = entry.seq - 60), mac = (SELECT mac FROM older.entry o WHERE o.seq = entry.seq - 60) WHERE seq = 188",
		"distance":    "UPDATE entry SET mac = CAST(substr(mac, 1, 49) || x'01' AS BLOB) WHERE session = 's7' AND seq > 180",
		"link":        "UPDATE entry SET mac = CAST(substr(mac, 1, 33) || zeroblob(16) || substr(mac, 50) AS BLOB) WHERE session = 's7' AND seq > 180",
	} {
		t.Run(what, func(t *testing.T) {
			forged := spoiled(t, path, query)
			require.Error(t, verifyWithKeys(t.Context(), forged))
			r, err := sqlite.OpenReader(forged, sqlite.WithKeys(forged+".keys"))
			require.NoError(t, err)
			readers := []sessionReader{r}
			s, err := sqlite.Open(forged)
			if err == nil {
				readers = append(readers, s)
			} else { // it is so small that a start counts its entries
				require.ErrorAs(t, err, new(*sqlite.CorruptError))
			}
			for _, j := range readers {
				for i := range manySessions {
					var got []uint64
					err := j.Back(t.Context(), sessionName(i), math.MaxUint64, func(e *journal.Entry) bool {
						got = append(got, e.Seq)
						return true
					})
					if err == nil {
						require.Equal(t, positions(i), got)
					}
					if i == 7 {
						require.Error(t, err)
					}
				}
			}
			got, err := readBack(t.Context(), readers[len(readers)-1], "another")
			require.NoError(t, err)
			require.Empty(t, got, "what was renamed is no session")
			require.NoError(t, r.Close())
			if s != nil {
				require.NoError(t, s.Close())
			}
		})
	}
}

// TestSessionOfAForkIsRefused puts the last entries of a session of a fork, with those before them, into a store:
// each verifies after its neighbor, and the session does not end with them.
func TestSessionOfAForkIsRefused(t *testing.T) {
	path, older := manied(t)
	fork, err := sqlite.Open(older)
	require.NoError(t, err)
	for seq := uint64(181); seq <= 360; seq++ {
		require.NoError(t, fork.Append(t.Context(), []journal.Entry{{Seq: seq, Kind: "k", Session: sessionName(int(seq-1) % manySessions), Leaf: []byte("of the fork")}}))
	}
	require.NoError(t, fork.Close())
	forged := spoiled(t, path, "ATTACH ? AS fork; UPDATE entry SET (leaf, mac) = (SELECT leaf, mac FROM fork.entry f WHERE f.seq = entry.seq) WHERE seq BETWEEN 181 AND 350", older)
	s := open(t, forged)
	_, err = readBack(t.Context(), s, "s7")
	require.ErrorIs(t, err, sqlite.ErrForged)
	require.Error(t, verifyWithKeys(t.Context(), forged))
}

// TestForgedTreeIsRefused changes the tree of the sessions and its root. A root that is not authentic, or older
// than the head, is refused by a start, a node by whatever needs it.
func TestForgedTreeIsRefused(t *testing.T) {
	path, older := manied(t)
	for what, c := range map[string]struct {
		query string
		want  error
	}{
		"root":           {"UPDATE owner SET root = zeroblob(32)", sqlite.ErrForged},
		"authenticator":  {"UPDATE owner SET mac = zeroblob(32)", sqlite.ErrForged},
		"both":           {"UPDATE owner SET root = zeroblob(32), mac = zeroblob(32)", sqlite.ErrForged},
		"no root":        {"UPDATE owner SET root = x''", sqlite.ErrForged},
		"covers less":    {"UPDATE owner SET rooted = rooted - 1", sqlite.ErrRolledBack},
		"covers more":    {"UPDATE owner SET rooted = rooted + 1", sqlite.ErrForged},
		"covers nothing": {"UPDATE owner SET rooted = 0, root = x'', mac = x''", sqlite.ErrRolledBack},
		"older": {"ATTACH '" + older + "' AS older; UPDATE owner SET (rooted, root, mac) = (SELECT rooted, root, mac FROM older.owner); DELETE FROM node; INSERT INTO node SELECT * FROM older.node",
			sqlite.ErrRolledBack},
	} {
		forged := spoiled(t, path, c.query)
		require.ErrorIs(t, refused(t, forged), c.want, what)
		require.ErrorIs(t, verifyWithKeys(t.Context(), forged), c.want, what)
	}

	lowered := spoiled(t, path, "UPDATE owner SET rooted = 0, root = x'', mac = x''")
	text, err := os.ReadFile(lowered + ".keys")
	require.NoError(t, err)
	require.Contains(t, string(text), `"rooted": 360`)
	require.NoError(t, os.WriteFile(lowered+".keys", []byte(strings.Replace(string(text), `"rooted": 360`, `"rooted": 0`, 1)), 0o600))
	require.ErrorIs(t, refused(t, lowered), sqlite.ErrKeys)

	var nodes []int64
	rows, err := other(t, path).Query("SELECT path FROM node")
	require.NoError(t, err)
	for rows.Next() {
		var one int64
		require.NoError(t, rows.Scan(&one))
		nodes = append(nodes, one)
	}
	require.NoError(t, rows.Err())
	require.Greater(t, len(nodes), 2)
	for _, node := range nodes {
		for what, query := range map[string]string{
			"removed": "DELETE FROM node WHERE path = ?1", "emptied": "UPDATE node SET data = x'00' WHERE path = ?1",
			"older": "ATTACH '" + older + "' AS older; UPDATE node SET data = coalesce((SELECT data FROM older.node o WHERE o.path = ?1), x'') WHERE path = ?1",
		} {
			nodeIsRefused(t, fmt.Sprintf("node %d: %s", node, what), spoiled(t, path, query, node))
		}
	}
}

// nodeIsRefused: sessions below a forged node can be neither read nor continued, nor can new ones be begun there;
// others can.
func nodeIsRefused(t *testing.T, what, forged string) {
	t.Helper()
	require.ErrorIs(t, verifyWithKeys(t.Context(), forged), sqlite.ErrForged, what)
	s := open(t, forged)
	met, seq := 0, uint64(361)
	for i := range 2 * manySessions { // every second one is new
		session := sessionName(i)
		got, err := readBack(t.Context(), s, session)
		if err == nil && i%20 != 0 { // an append to each takes long
			continue
		}
		appended := s.Append(t.Context(), []journal.Entry{{Seq: seq, Kind: "k", Session: session, Leaf: []byte("new")}})
		if err != nil {
			met++
			require.ErrorIs(t, err, sqlite.ErrForged, what)
			require.ErrorIs(t, appended, sqlite.ErrForged, what)
			continue
		}
		require.NoError(t, appended, what)
		seq++
		if i < manySessions {
			require.Equal(t, positions(i), got, what)
		} else {
			require.Empty(t, got, what)
		}
	}
	require.Positive(t, met, what)
}

// TestIndexesDecideNothing hides a session and its open call in the indexes: the owner reads it all the same.
func TestIndexesDecideNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: 1, Kind: "k", Session: "s", Call: "c", Mark: journal.MarkOpened, Leaf: []byte("{}")}}))
	require.NoError(t, s.Close())
	change(t, path, "DELETE FROM call; DELETE FROM session; UPDATE owner SET indexed = 1")
	s = open(t, path)
	list, err := s.Open(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"s"}, list)
	got, err := readBack(t.Context(), s, "s")
	require.NoError(t, err)
	require.Equal(t, []uint64{1}, got)
	list, err = openReader(t, path).Open(t.Context())
	require.NoError(t, err)
	require.Empty(t, list, "a reader goes by the index")
}
