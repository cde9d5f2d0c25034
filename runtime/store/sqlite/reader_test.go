package sqlite_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

func openReader(t *testing.T, path string) *sqlite.Reader {
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestReaderBesideTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	r := openReader(t, path)
	for i := range 300 {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(uint64(i+1), 10)}))
		list, err := r.Read(t.Context(), uint64(i), 2)
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
	head, err := r.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(300), head)
	require.NoError(t, s.Close())
	list, err := r.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	require.Len(t, list, 300)
	s = open(t, path) // while the reader is there
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(301, 10)}))
	list, err = r.Read(t.Context(), 300, 1000)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, r.Check(t.Context()))
}

func TestReaderWithoutAnOwner(t *testing.T) {
	path := filled(t, 3)
	list, err := openReader(t, path).Read(t.Context(), 0, 9)
	require.NoError(t, err)
	require.Len(t, list, 3)
	_, err = sqlite.OpenReader(path + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path+"x")
}

// TestReaderAfterACrash reads files as they were while the owner ran: most of the
// entries are in the write-ahead log alone.
func TestReaderAfterACrash(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "store")
	s := open(t, from)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10), entry(2, 10)}))
	for _, ending := range []string{"", "-wal", ".keys"} {
		data, err := os.ReadFile(from + ending)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+ending, data, 0o600))
	}
	for range 2 { // reading takes nothing away
		r, err := sqlite.OpenReader(to)
		require.NoError(t, err)
		list, err := r.Read(t.Context(), 0, 9)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.NoError(t, r.Close())
	}
	s = open(t, to)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(3, 10)}))
}

func TestCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var seq uint64
	add := func(session, run, call, tool, kind string, mark journal.Mark) {
		seq++
		e := journal.Entry{Seq: seq, At: at.Add(time.Duration(seq)), Kind: kind, Session: session, Run: run, Call: call, Tool: tool, Mark: mark, Leaf: []byte("x")}
		require.NoError(t, s.Append(t.Context(), []journal.Entry{e}))
	}
	add("s", "r", "a", "read", "tool.validated", journal.MarkOpened)
	add("s", "r", "a", "read", "tool.started", journal.MarkStarted)
	for i := range 200 { // so that the first of them are indexed and the last are not
		add("s", "r2", fmt.Sprint(i), "write", "tool.validated", journal.MarkOpened)
		add("s", "r2", fmt.Sprint(i), "write", "tool.completed", journal.MarkEnded)
	}
	add("s", "r", "a", "read", "tool.failed", journal.MarkEnded)
	add("s2", "r", "b", "read", "tool.validated", journal.MarkOpened)
	a := sqlite.CallRow{
		CallKey: journal.CallKey{Session: "s", Call: "a"}, Run: "r", Tool: "read", First: 1, Last: 403, Kind: "tool.failed",
		Opened: 1, Started: 2, Ended: 403, OpenedAt: at.Add(1), EndedAt: at.Add(403),
	}
	b := sqlite.CallRow{
		CallKey: journal.CallKey{Session: "s2", Call: "b"}, Run: "r", Tool: "read", First: 404, Last: 404, Kind: "tool.validated",
		Opened: 404, OpenedAt: at.Add(404),
	}
	for range 2 {
		calls := func(f sqlite.CallFilter) []sqlite.CallRow {
			list, err := openReader(t, path).Calls(t.Context(), f)
			require.NoError(t, err)
			return list
		}
		assert.Equal(t, []sqlite.CallRow{b, a}, calls(sqlite.CallFilter{Run: "r"}))
		assert.Equal(t, []sqlite.CallRow{b, a}, calls(sqlite.CallFilter{Tool: "read"}))
		assert.Equal(t, []sqlite.CallRow{b}, calls(sqlite.CallFilter{Unfinished: true}))
		assert.Equal(t, []sqlite.CallRow{a}, calls(sqlite.CallFilter{Session: "s", Tool: "read", Limit: 3}))
		assert.Equal(t, []sqlite.CallRow{b}, calls(sqlite.CallFilter{Limit: 1}))
		assert.Equal(t, []sqlite.CallRow{a}, calls(sqlite.CallFilter{Call: a.Call, Session: a.Session}))
		assert.Empty(t, calls(sqlite.CallFilter{Call: "nosuch"}))
		assert.Equal(t, []sqlite.CallRow{b}, calls(sqlite.CallFilter{Session: "s2", Run: "r", Prefix: true}))
		assert.Equal(t, []sqlite.CallRow{a}, calls(sqlite.CallFilter{Session: "s", Run: "r", Before: b.First}))
		assert.Len(t, calls(sqlite.CallFilter{Call: "1", Prefix: true, Limit: 1000}), 111)
		assert.Empty(t, calls(sqlite.CallFilter{Call: "%", Prefix: true}))
		assert.Equal(t, []sqlite.CallRow{b}, calls(sqlite.CallFilter{Since: b.OpenedAt}))
		assert.Empty(t, calls(sqlite.CallFilter{Since: b.OpenedAt.Add(1)}))
		assert.Len(t, calls(sqlite.CallFilter{}), 100)
		all := calls(sqlite.CallFilter{Limit: 1000})
		require.Len(t, all, 202)
		assert.Equal(t, "199", all[1].Call)
		assert.Equal(t, a, all[201])
		require.NoError(t, s.Close()) // which indexes all
	}
}
