package sqlite

import (
	"database/sql"
	"fmt"
	"os"
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
	for i := range 1200 { // the last of them are not in the table yet
		at := base.Add(time.Duration(i%100) * time.Second) // it goes back now and then
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
				rows, err := s.Calls(t.Context(), CallFilter{Since: since, Tool: tool, Limit: 2000})
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
		rows, err := s.Calls(t.Context(), CallFilter{Since: base.Add(time.Second), Until: until, Limit: 2000})
		require.NoError(t, err)
		assert.Len(t, rows, want, before)
	}
	require.NoError(t, s.Close())
}

// TestStoreOfTheFormerVersion: a store of an earlier version is refused with the reason and the remedy, by its
// owner and by readers, and nothing of it is changed.
func TestStoreOfTheFormerVersion(t *testing.T) {
	for version := range firstVersion {
		path := filepath.Join(t.TempDir(), "store")
		s, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		former, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = former.Exec("UPDATE migration SET version = ?", version)
		require.NoError(t, err)
		require.NoError(t, former.Close())
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = Open(path)
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, fmt.Sprintf("it has version %d and this program knows %d", version, firstVersion))
		require.ErrorContains(t, err, "keep it with the program that wrote it, and begin a new one under another name")
		_, err = OpenReader(path)
		require.ErrorIs(t, err, ErrVersion)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}
