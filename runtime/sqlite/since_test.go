package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestSinceWhenTheClockGoesBack: the calls since a time are those, whatever the order of the times, and
// however many calls were opened since then.
func TestSinceWhenTheClockGoesBack(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	require.NoError(t, err)
	base := time.Unix(1000, 0)
	var list []journal.Entry
	var opened []time.Time
	for i := range 300 { // the last of them are not in the table yet
		at := base.Add(time.Duration(i%100) * time.Second) // it goes back twice
		opened = append(opened, at)
		list = append(list, journal.Entry{Seq: uint64(i + 1), At: at, Kind: "tool.validated", Session: "s", Run: "r", Call: fmt.Sprint(i), Tool: fmt.Sprint("t", i%3), Mark: journal.MarkOpened, Leaf: []byte("{}")})
	}
	require.NoError(t, s.Append(t.Context(), list))
	defer func(n int) { maxSince = n }(maxSince)
	for _, maxSince = range []int{1, 40, 10_000} {
		for _, after := range []int{0, 37, 98, 99, 100} {
			for _, tool := range []string{"", "t1"} {
				since, want := base.Add(time.Duration(after)*time.Second), []string{}
				for i := len(opened) - 1; i >= 0; i-- {
					if !opened[i].Before(since) && (tool == "" || tool == list[i].Tool) {
						want = append(want, list[i].Call)
					}
				}
				rows, err := s.Calls(t.Context(), CallFilter{Since: since, Tool: tool, Limit: 1000})
				require.NoError(t, err)
				got := []string{}
				for _, r := range rows {
					got = append(got, r.Call)
				}
				assert.Equal(t, want, got, "%d %s %d", after, tool, maxSince)
			}
		}
	}
	for _, before := range []int{0, 1, 37, 100} {
		until, want := base.Add(time.Duration(before)*time.Second), 0
		for i := range opened {
			if opened[i].Before(until) && !opened[i].Before(base.Add(time.Second)) {
				want++
			}
		}
		rows, err := s.Calls(t.Context(), CallFilter{Since: base.Add(time.Second), Until: until, Limit: 1000})
		require.NoError(t, err)
		assert.Len(t, rows, want, before)
	}
	require.NoError(t, s.Close())
}

// TestStoreOfTheFormerVersion: a store of version 2 or 3 is brought to version 4, with its entries; a reader
// lists the calls of one that no owner has brought there.
func TestStoreOfTheFormerVersion(t *testing.T) {
	for version, undo := range map[int]string{
		3: "DROP INDEX call_session; DELETE FROM migration WHERE version > 3",
		2: "DROP INDEX call_session; DROP INDEX call_tool; DROP INDEX call_run; DROP INDEX call_opened_at; DELETE FROM migration WHERE version > 2",
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) { broughtForward(t, undo) })
	}
}

// broughtForward makes a store, undoes the last steps in it, and wants the next owner to do them again.
func broughtForward(t *testing.T, undo string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: 1, At: time.Unix(1, 0), Kind: "k", Session: "s", Run: "r", Call: "c", Tool: "t", Mark: journal.MarkOpened, Leaf: []byte("{}")}}))
	require.NoError(t, s.Close())
	former, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = former.Exec(undo)
	require.NoError(t, err)
	require.NoError(t, former.Close())
	f := CallFilter{Session: "s", Run: "r", Tool: "t", Prefix: true, Since: time.Unix(1, 0)}
	r, err := OpenReader(path)
	require.NoError(t, err)
	before, err := r.Calls(t.Context(), f)
	require.NoError(t, err)
	require.Len(t, before, 1)
	require.NoError(t, r.Close())

	s, err = Open(path)
	require.NoError(t, err)
	after, err := s.Calls(t.Context(), f)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	version, err := versionOf(t.Context(), s.db)
	require.NoError(t, err)
	assert.EqualValues(t, 4, version)
	for query, index := range map[string]string{
		"SELECT * FROM call WHERE tool = ? ORDER BY first DESC": "call_tool", "SELECT * FROM call WHERE run = ? ORDER BY first DESC": "call_run",
		"SELECT first FROM call WHERE opened_at >= ?": "call_opened_at", "SELECT * FROM call WHERE session = ? ORDER BY first DESC": "call_session",
	} {
		assert.Contains(t, plan(t, s.db, query)[0], index)
	}
	require.NoError(t, s.Close())
}
