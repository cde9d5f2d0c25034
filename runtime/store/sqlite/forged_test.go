package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

const (
	writtenEntries = 12 // by Append in batches of two
	writtenHead    = 8  // of them are below the head
)

// written makes a store and returns copies of its files: as it was while it was
// open, with entries above the head, and after it was closed.
func written(t *testing.T) (crashed, closed string) {
	dir := t.TempDir()
	path, crashed := filepath.Join(dir, "store"), filepath.Join(dir, "crashed")
	var head func()
	s, err := sqlite.Open(path, sqlite.WithAfterFunc(func(_ time.Duration, f func()) func() bool {
		head = f
		return func() bool { return true }
	}))
	require.NoError(t, err)
	for i := range uint64(writtenEntries / 2) {
		var batch []journal.Entry
		for _, seq := range []uint64{2*i + 1, 2*i + 2} {
			batch = append(batch, journal.Entry{
				Seq: seq, At: time.Unix(1000, int64(seq)), Kind: "k", Session: "s", Run: "r", Call: "c", Tool: "t", Mark: journal.MarkOpened,
				Leaf: fmt.Appendf(nil, "leaf %d", seq), Private: []byte("p"),
			})
		}
		require.NoError(t, s.Append(t.Context(), batch))
		if batch[1].Seq == writtenHead {
			head()
		}
	}
	require.NoError(t, s.Apply(t.Context(), []sqlite.Write{{Key: "k", Value: []byte("v")}, {Key: "other", Value: []byte("w")}}))
	copyStore(t, path, crashed)
	require.NoError(t, s.SaveCheckpoint(t.Context(), 6, []byte("note")))
	require.NoError(t, s.Close())
	return crashed, path
}

// copyStore copies the files of a store, the keys file first: it is never ahead
// of the store then.
func copyStore(t *testing.T, from, to string) {
	for _, part := range []string{".keys", "", "-wal"} {
		text, err := os.ReadFile(from + part)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+part, text, 0o600))
	}
}

// change changes a store as a process can that has none of its keys.
func change(t *testing.T, path, query string, args ...any) {
	db := other(t, path)
	_, err := db.Exec("DROP TRIGGER IF EXISTS entry_is_not_changed; DROP TRIGGER IF EXISTS entry_is_not_deleted")
	require.NoError(t, err)
	_, err = db.Exec(query, args...)
	require.NoError(t, err, query)
	require.NoError(t, db.Close())
}

// start opens a store and reads it, as an executor does. It returns the first error.
func start(t *testing.T, path string) error {
	s, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	_, err = s.Read(t.Context(), 0, 1<<20)
	require.NoError(t, s.Close())
	return err
}

// TestForgedEntriesAreRefused changes each entry of a store in each column, and
// wants its position.
func TestForgedEntriesAreRefused(t *testing.T) {
	crashed, closed := written(t)
	positions := map[string][]uint64{crashed: {writtenHead, writtenHead + 1}, closed: {1, writtenEntries}}
	for state, from := range map[string]string{"crashed": crashed, "closed": closed} {
		for _, column := range []string{
			"at = at + 1", "at = NULL", "kind = 'x'", "session = 'x'", "run = 'x'", "call = 'x'", "tool = 'x'", "mark = 2", "leaf = x'00'",
			"leaf = CAST(leaf || 'x' AS BLOB)", "kind = kind || session, session = ''",
			"mac = x''", "mac = zeroblob(33)", "mac = (SELECT mac FROM entry WHERE seq = 3)", "mac = CAST(x'01' || substr(mac, 2) AS BLOB)", "mac = CAST(x'02' || substr(mac, 2) AS BLOB)",
		} {
			for _, seq := range positions[from] {
				path := filepath.Join(t.TempDir(), "store")
				copyStore(t, from, path)
				what := fmt.Sprintf("%s, %s at %d", state, column, seq)
				var was, is []byte
				require.NoError(t, other(t, path).QueryRow("SELECT mac FROM entry WHERE seq = ?", seq).Scan(&was))
				change(t, path, "UPDATE entry SET "+column+" WHERE seq = ?", seq)
				require.NoError(t, other(t, path).QueryRow("SELECT mac FROM entry WHERE seq = ?", seq).Scan(&is))
				if column[:3] == "mac" && string(was) == string(is) {
					continue
				}
				err := start(t, path)
				require.ErrorIs(t, err, sqlite.ErrForged, what)
				var forged *sqlite.ForgedError
				require.ErrorAs(t, err, &forged, what)
				require.Equal(t, seq, forged.Seq, what)
			}
		}
	}
}

func TestWhatIsNotTheStoreIsRefused(t *testing.T) {
	crashed, closed := written(t)
	_, foreign := written(t)
	for name, c := range map[string]struct {
		from, query string
		want        error
		at          uint64 // of a ForgedError; 0: another error
	}{
		"appended after a close": {closed, "INSERT INTO entry SELECT 13, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq = 12", sqlite.ErrForged, 13},
		"appended after a crash": {crashed, "INSERT INTO entry SELECT 13, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq = 12", sqlite.ErrForged, 13},
		"inserted": {closed, `UPDATE entry SET seq = seq + 100 WHERE seq > 4; INSERT INTO entry SELECT 5, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq = 4;
UPDATE entry SET seq = seq - 99 WHERE seq > 100`, sqlite.ErrForged, 5},
		"swapped":             {crashed, "UPDATE entry SET seq = 99 WHERE seq = 2; UPDATE entry SET seq = 2 WHERE seq = 3; UPDATE entry SET seq = 3 WHERE seq = 99", sqlite.ErrForged, 2},
		"cut by one":          {closed, "DELETE FROM entry WHERE seq = 12", sqlite.ErrRolledBack, 0},
		"cut below the head":  {crashed, "DELETE FROM entry WHERE seq > 6", sqlite.ErrRolledBack, 0},
		"cut in an append":    {crashed, "DELETE FROM entry WHERE seq > 9", sqlite.ErrForged, 9},
		"emptied":             {closed, "DELETE FROM entry", sqlite.ErrRolledBack, 0},
		"another id":          {closed, "UPDATE owner SET store = zeroblob(16)", sqlite.ErrKeys, 0},
		"no owner":            {closed, "DELETE FROM owner", sqlite.ErrKeys, 0},
		"an earlier owner":    {closed, "UPDATE owner SET epoch = 0", sqlite.ErrRolledBack, 0},
		"no version":          {closed, "DELETE FROM migration", sqlite.ErrVersion, 0},
		"the former version":  {closed, "DELETE FROM migration WHERE version > 2; UPDATE migration SET version = 1", sqlite.ErrVersion, 0},
		"no migrations":       {closed, "DROP TABLE migration", sqlite.ErrNotStore, 0},
		"all entries foreign": {foreign, "SELECT 1", sqlite.ErrKeys, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			copyStore(t, c.from, path)
			change(t, path, c.query)
			if c.from == foreign {
				text, err := os.ReadFile(closed + ".keys")
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path+".keys", text, 0o600))
			}
			err := start(t, path)
			require.ErrorIs(t, err, c.want)
			var forged *sqlite.ForgedError
			if c.at != 0 {
				require.ErrorAs(t, err, &forged)
				assert.Equal(t, c.at, forged.Seq)
			}
		})
	}
}

// TestWhatLiesAboveTheHead: the entries above the head can be cut off at the end of an
// Append, and the store cannot tell that from what a crash leaves.
func TestWhatLiesAboveTheHead(t *testing.T) {
	crashed, _ := written(t)
	change(t, crashed, "DELETE FROM entry WHERE seq > 10")
	s := open(t, crashed)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(11, 10)}))
	list, err := s.Read(t.Context(), 0, 99)
	require.NoError(t, err)
	require.Len(t, list, 11)
}

// TestFormerLayoutIsRefused: a store of version 1 has no column mac, and its keys file has another form. Its version is the
// reason, whatever the keys file is.
func TestFormerLayoutIsRefused(t *testing.T) {
	_, closed := written(t)
	change(t, closed, "UPDATE migration SET version = 1; ALTER TABLE entry DROP COLUMN mac")
	wrong := func() {
		err := refused(t, closed)
		require.ErrorIs(t, err, sqlite.ErrVersion)
		require.NotErrorIs(t, err, sqlite.ErrKeys)
		require.ErrorContains(t, err, "it has version 1 and this program knows 7: ")
		require.ErrorContains(t, err, "keep it with the program that wrote it")
	}
	for _, keys := range []string{`{}`, `{"signer":"AAAA"}`, `{"version":2,"store":"00"}`, `nonsense`} {
		require.NoError(t, os.WriteFile(closed+".keys", []byte(keys), 0o600))
		wrong()
	}
	require.NoError(t, os.Remove(closed+".keys"))
	wrong()
	_, err := sqlite.OpenReader(closed)
	require.ErrorIs(t, err, sqlite.ErrVersion)
}

func TestForgedCallsStateAndCheckpoints(t *testing.T) {
	_, closed := written(t)
	change(t, closed, "UPDATE state SET value = x'00' WHERE key = 'k'; UPDATE checkpoint SET note = x'00'; UPDATE entry SET leaf = x'00' WHERE seq = 4")
	s := open(t, closed)
	_, err := s.Get(t.Context(), "k")
	require.ErrorIs(t, err, sqlite.ErrForged)
	value, err := s.Get(t.Context(), "other")
	require.NoError(t, err)
	require.Equal(t, "w", string(value))
	_, err = s.Checkpoints(t.Context())
	require.ErrorIs(t, err, sqlite.ErrForged)
	var forged *sqlite.ForgedError
	list, err := s.Call(t.Context(), journal.CallKey{Session: "s", Call: "c"})
	require.ErrorAs(t, err, &forged)
	require.EqualValues(t, 4, forged.Seq)
	require.Len(t, list, 3)
	list, err = s.Read(t.Context(), 0, 99)
	require.ErrorAs(t, err, &forged)
	require.Len(t, list, 3)
	list, err = s.Read(t.Context(), 4, 99) // what follows is genuine all the same
	require.NoError(t, err)
	require.Len(t, list, 8)
}

func TestReadersAuthenticate(t *testing.T) {
	crashed, closed := written(t)
	for _, path := range []string{crashed, closed} {
		r, err := sqlite.OpenReader(path, sqlite.WithKeys(path+".keys"))
		require.NoError(t, err)
		n, err := r.Authenticate(t.Context())
		if path == closed {
			require.NoError(t, err)
			require.EqualValues(t, writtenEntries, n)
		} else {
			require.NoError(t, err, "a crash has left all that the head of the closed store is about")
		}
		require.NoError(t, r.Close())
	}
	change(t, closed, "UPDATE entry SET kind = 'x' WHERE seq = 2; DELETE FROM entry WHERE seq > 10")
	r := openReader(t, closed)
	_, err := r.Authenticate(t.Context())
	require.ErrorContains(t, err, "without its keys")
	list, err := r.Read(t.Context(), 0, 99)
	require.NoError(t, err, "without keys nothing is verified")
	require.Len(t, list, 10)

	r, err = sqlite.OpenReader(closed, sqlite.WithKeys(closed+".keys"))
	require.NoError(t, err)
	_, err = r.Authenticate(t.Context())
	require.ErrorIs(t, err, sqlite.ErrRolledBack)
	list, err = r.Read(t.Context(), 0, 99)
	require.ErrorIs(t, err, sqlite.ErrForged)
	require.Len(t, list, 1)
	require.NoError(t, r.Close())

	_, err = sqlite.OpenReader(closed, sqlite.WithKeys(closed))
	require.ErrorIs(t, err, sqlite.ErrKeys)
	_, err = sqlite.OpenReader(closed, sqlite.WithKeys(closed+".none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestErasedEntriesVerify: no authenticator covers what is private.
func TestErasedEntriesVerify(t *testing.T) {
	_, closed := written(t)
	s := open(t, closed)
	require.NoError(t, s.EraseSession(t.Context(), "s"))
	require.NoError(t, s.Close())
	require.NoError(t, start(t, closed))
}

// TestForksAreNotJoined continues two copies of a store, and puts an entry of one
// into the other: each is genuine, and they are no journal.
func TestForksAreNotJoined(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	s := open(t, one)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10), entry(2, 10)}))
	require.NoError(t, s.Close())
	copyStore(t, one, two)
	for i, path := range []string{one, two} {
		s := open(t, path)
		for _, seq := range []uint64{3, 4, 5} {
			require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(seq, 10+i)}))
		}
		require.NoError(t, s.Close())
	}
	change(t, one, "ATTACH ? AS two; DELETE FROM entry WHERE seq = 4; INSERT INTO entry SELECT * FROM two.entry WHERE seq = 4", two)
	var forged *sqlite.ForgedError
	require.ErrorAs(t, start(t, one), &forged)
	require.EqualValues(t, 4, forged.Seq)
}

// TestChangedWhileItRuns changes a store under its owner: what is appended then
// would not continue what is there.
func TestChangedWhileItRuns(t *testing.T) {
	for _, query := range []string{
		"DELETE FROM entry WHERE seq = 2", "INSERT INTO entry SELECT 3, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq = 2",
	} {
		path := filepath.Join(t.TempDir(), "store")
		s := open(t, path)
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10), entry(2, 10)}))
		change(t, path, query)
		require.ErrorIs(t, s.Append(t.Context(), []journal.Entry{entry(3, 10)}), journal.ErrConflict)
	}
}
