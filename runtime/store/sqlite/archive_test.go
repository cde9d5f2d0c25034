package sqlite_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

const (
	archivedLast  = 24 // of the entries of archivable
	archivedTotal = 40
)

// archivable makes a store of ten calls of four entries each, in two sessions, with checkpoints at 24 and 32. The call
// that begins at 29 has not ended.
func archivable(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s := open(t, path)
	for first := uint64(1); first < archivedTotal; first += 4 {
		var list []journal.Entry
		for i, mark := range []journal.Mark{journal.MarkOpened, journal.MarkStarted, journal.MarkNone, journal.MarkEnded} {
			if first == 29 && mark == journal.MarkEnded {
				mark = journal.MarkNone
			}
			e := journal.Entry{Seq: first + uint64(i), Kind: "k", Session: fmt.Sprint("s", first/4%2), Call: fmt.Sprint("c", first), Mark: mark, Leaf: fmt.Append(nil, first, i)}
			if mark == journal.MarkOpened {
				e.Private = []byte("p")
			}
			list = append(list, e)
		}
		require.NoError(t, s.Append(t.Context(), list))
	}
	for _, size := range []uint64{8, archivedLast, 32} {
		require.NoError(t, s.SaveCheckpoint(t.Context(), size, []byte("note")))
	}
	return s
}

// firstArchive is the segment of the first entries of archivable.
var firstArchive = journal.Segment{First: 1, Last: archivedLast, File: "archive/1.segment", Digest: [32]byte{7}}

// archived makes a store whose first entries are archived, and closes it. older is a copy of it from before.
func archived(t *testing.T) (path, older string) {
	t.Helper()
	dir := t.TempDir()
	path, older = filepath.Join(dir, "store"), filepath.Join(dir, "older")
	require.NoError(t, archivable(t, path).Close())
	copyStore(t, path, older)
	_, err := other(t, path).Exec(`INSERT INTO request VALUES ('ended', 's', 'c', 5, '', 0, 0, 0, 0, NULL), ('used', 's', 'c', 6, '', 0, 0, 9223372036854775807, 0, 0),
('expired', 's', 'c', 7, '', 0, 0, 1, 0, 1), ('granted', 's', 'c', 8, '', 0, 0, 9223372036854775807, 0, 1), ('', '', '', 9, '', 0, 0, 0, 0, NULL), ('later', 's', 'c', 30, '', 0, 0, 0, 0, NULL)`)
	require.NoError(t, err)
	s := open(t, path)
	require.NoError(t, s.Archive(t.Context(), firstArchive))
	require.NoError(t, s.Close())
	return path, older
}

// An archivedReader is what a store and a reader of it have in common.
type archivedReader interface {
	sessionReader
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
	Call(ctx context.Context, key journal.CallKey) ([]journal.Entry, error)
	Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error)
	Segments(ctx context.Context) ([]journal.Segment, error)
}

// wantArchived holds what is read to a lower end.
func wantArchived(t *testing.T, j archivedReader) {
	t.Helper()
	refusedAs := func(seq uint64, err error) {
		t.Helper()
		var gone *journal.ArchivedError
		require.ErrorAs(t, err, &gone)
		require.Equal(t, journal.ArchivedError{Seq: seq, Last: archivedLast, Segment: firstArchive.File}, *gone)
	}
	for after := range uint64(archivedLast) {
		list, err := j.Read(t.Context(), after, 5)
		refusedAs(after+1, err)
		require.Empty(t, list)
		_, err = j.Entries(t.Context(), 30, after+1)
		refusedAs(after+1, err)
	}
	list, err := j.Read(t.Context(), archivedLast, 99)
	require.NoError(t, err)
	require.Len(t, list, archivedTotal-archivedLast)
	require.EqualValues(t, archivedLast+1, list[0].Seq)
	list, err = j.Entries(t.Context(), archivedLast+1, 40)
	require.NoError(t, err)
	require.Len(t, list, 2)
	got, err := readBack(t.Context(), j, "s0")
	refusedAs(20, err)
	require.Equal(t, []uint64{36, 35, 34, 33, 28, 27, 26, 25}, got)
	list, err = j.Call(t.Context(), journal.CallKey{Session: "s0", Call: "c25"})
	require.NoError(t, err)
	require.Len(t, list, 4)
	list, err = j.Call(t.Context(), journal.CallKey{Session: "s0", Call: "c1"})
	require.NoError(t, err)
	require.Empty(t, list)
	segments, err := j.Segments(t.Context())
	require.NoError(t, err)
	require.Equal(t, []journal.Segment{firstArchive}, segments)
}

// TestArchive: what is archived is gone, and what is left goes on and proves itself.
func TestArchive(t *testing.T) {
	path, _ := archived(t)
	r, err := sqlite.OpenReader(path, sqlite.WithKeys(path+".keys"))
	require.NoError(t, err)
	wantArchived(t, r)
	require.NoError(t, r.Check(t.Context()))
	require.NoError(t, r.Close())
	wantArchived(t, openReader(t, path))
	require.NoError(t, verifyWithKeys(t.Context(), path))

	s := open(t, path)
	wantArchived(t, s)
	var rows int
	require.NoError(t, other(t, path).QueryRow("SELECT (SELECT count(*) FROM entry WHERE seq <= 24) + (SELECT count(*) FROM private WHERE seq <= 24) + (SELECT count(*) FROM call WHERE last <= 24) + (SELECT count(*) FROM checkpoint WHERE size < 24)").Scan(&rows))
	require.Zero(t, rows)
	var left string
	require.NoError(t, other(t, path).QueryRow("SELECT group_concat(id, ' ') FROM (SELECT id FROM request ORDER BY asked)").Scan(&left))
	require.Equal(t, "granted  later", left, "a live grant, what was retired, and what is not archived")
	e := entry(41, 10)
	e.Session = "s1"
	require.NoError(t, s.Append(t.Context(), []journal.Entry{e}))
	require.NoError(t, s.Close())
	require.NoError(t, verifyWithKeys(t.Context(), path))

	s = open(t, path)
	list, err := s.Read(t.Context(), 40, 9)
	require.NoError(t, err)
	require.Len(t, list, 1)
	open, err := s.Open(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"s1"}, open)
	require.NoError(t, s.Close())
}

// TestWhatIsNotArchived: a segment that does not continue the last one or that no checkpoint ends, and entries of something open.
func TestWhatIsNotArchived(t *testing.T) {
	s := archivable(t, filepath.Join(t.TempDir(), "store"))
	for what, c := range map[string]struct {
		seg  journal.Segment
		want string
	}{
		"a gap":            {journal.Segment{First: 2, Last: 24}, "entry 1 is the first that is not archived"},
		"nothing":          {journal.Segment{First: 1}, "entry 1 is the first that is not archived"},
		"no checkpoint":    {journal.Segment{First: 1, Last: 23}, "there is no checkpoint of 23 entries"},
		"everything":       {journal.Segment{First: 1, Last: 40}, "the store has 40 entries, of which the last stays"},
		"a call that runs": {journal.Segment{First: 1, Last: 32}, "a call that has not ended begins at entry 29"},
	} {
		err := s.Archive(t.Context(), c.seg)
		require.ErrorContains(t, err, c.want, what)
		if what == "a call that runs" {
			require.ErrorIs(t, err, sqlite.ErrPinned)
		}
	}
	list, err := s.Read(t.Context(), 0, 99)
	require.NoError(t, err)
	require.Len(t, list, archivedTotal)
	require.NoError(t, s.Archive(t.Context(), firstArchive))
	require.ErrorIs(t, s.Archive(t.Context(), firstArchive), journal.ErrConflict)
	require.NoError(t, s.SaveCheckpoint(t.Context(), 28, []byte("note")))
	require.NoError(t, s.Archive(t.Context(), journal.Segment{First: 25, Last: 28, File: "2"}))
	segments, err := s.Segments(t.Context())
	require.NoError(t, err)
	require.Len(t, segments, 2)
	_, err = s.Entries(t.Context(), 3)
	var gone *journal.ArchivedError
	require.ErrorAs(t, err, &gone)
	assert.Equal(t, firstArchive.File, gone.Segment, "the one that has the entry")
	assert.EqualValues(t, 28, gone.Last)
	require.ErrorContains(t, s.SaveCheckpoint(t.Context(), 20, []byte("note")), "archived")
}

// TestForgedArchives moves the lower end of a store without its keys: a start and a verification refuse it.
func TestForgedArchives(t *testing.T) {
	path, older := archived(t)
	_, foreign := archived(t)
	full := older
	older = filepath.Join(t.TempDir(), "further") // the same store with a second archive
	copyStore(t, path, older)
	s := open(t, older)
	require.NoError(t, s.SaveCheckpoint(t.Context(), 28, []byte("note")))
	require.NoError(t, s.Archive(t.Context(), journal.Segment{First: 25, Last: 28}))
	require.NoError(t, s.Close())
	row := func(last int) string {
		return fmt.Sprintf("INSERT OR REPLACE INTO segment SELECT %d, CAST(replace(CAST(data AS TEXT), '\"last\":24', '\"last\":%d') AS BLOB), mac FROM segment", last, last)
	}
	for what, c := range map[string]struct{ from, query string }{
		"moved up":              {path, row(28) + "; DELETE FROM entry WHERE seq <= 28"},
		"moved up, rows stay":   {path, row(28)},
		"moved down":            {path, row(20) + "; DELETE FROM segment WHERE last = 24"},
		"removed":               {path, "DELETE FROM segment"},
		"removed, rows put in":  {path, "ATTACH '" + full + "' AS full; DELETE FROM segment; INSERT INTO entry SELECT * FROM full.entry WHERE seq <= 24"},
		"another tail":          {path, "UPDATE segment SET data = CAST(replace(CAST(data AS TEXT), '\"tail\":[', '\"tail\":[1') AS BLOB)"},
		"another file":          {path, "UPDATE segment SET data = CAST(replace(CAST(data AS TEXT), 'archive/1', 'archive/2') AS BLOB)"},
		"another authenticator": {path, "UPDATE segment SET mac = randomblob(32)"},
		"no data":               {path, "UPDATE segment SET data = x''"},
		"that of another store": {path, "ATTACH '" + foreign + "' AS foreign_; DELETE FROM segment; INSERT INTO segment SELECT last, data, zeroblob(32) FROM segment"},
		"begun at a checkpoint": {full, "DELETE FROM entry WHERE seq <= 24"},
		"made of a checkpoint":  {full, "INSERT INTO segment SELECT size, note, mac FROM checkpoint WHERE size = 24; DELETE FROM entry WHERE seq <= 24"},
		"rolled back":           {older, "DELETE FROM segment WHERE last = 28"},
		"first one removed":     {older, "DELETE FROM segment WHERE last = 24"},
	} {
		t.Run(what, func(t *testing.T) {
			forged := spoiled(t, c.from, c.query)
			if what != "first one removed" { // which says only where entries went
				require.Error(t, verifyWithKeys(t.Context(), forged))
				_, err := sqlite.Open(forged)
				require.Error(t, err)
			}
			r, err := sqlite.OpenReader(forged, sqlite.WithKeys(forged+".keys"))
			require.NoError(t, err)
			_, listed := r.Segments(t.Context())
			_, read := r.Read(t.Context(), 24, 9)
			if what != "removed, rows put in" { // they are genuine
				require.False(t, listed == nil && read == nil, "neither the segments nor the entries are refused")
			}
			require.NoError(t, r.Close())
		})
	}
}

// TestAnOlderCopyOfTheKeys knows of archived entries alone: the lower end proves what follows.
func TestAnOlderCopyOfTheKeys(t *testing.T) {
	path, older := archived(t)
	require.NoError(t, os.Rename(older+".keys", path+".copy"))
	r, err := sqlite.OpenReader(path, sqlite.WithKeys(path+".copy"))
	require.NoError(t, err)
	n, err := r.Authenticate(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, archivedTotal, n)
	require.NoError(t, r.Close())
}

// TestAnArchivedStoreIsRestored: a restore verifies what is left.
func TestAnArchivedStoreIsRestored(t *testing.T) {
	path, older := archived(t)
	s := open(t, path)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(41, 10)}))
	require.NoError(t, s.Close())
	keys, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)
	earlier := filepath.Join(t.TempDir(), "store")
	copyStore(t, older, earlier)
	s = open(t, earlier)
	require.NoError(t, s.Archive(t.Context(), firstArchive))
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(earlier+".keys", keys, 0o600))
	_, err = sqlite.Open(earlier)
	require.ErrorIs(t, err, sqlite.ErrRolledBack)
	s, record, err := sqlite.Restore(earlier, onPurpose)
	require.NoError(t, err)
	require.EqualValues(t, archivedTotal, record.Kept)
	_, err = readBack(t.Context(), s, "s0")
	require.ErrorAs(t, err, new(*journal.ArchivedError))
	list, err := s.Read(t.Context(), archivedLast, math.MaxInt32)
	require.NoError(t, err)
	require.Len(t, list, archivedTotal-archivedLast+1)
	require.NoError(t, s.Close())
}
