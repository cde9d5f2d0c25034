package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestSessionsAndRuns lists them page by page, while their entries are indexed in part and when all are.
func TestSessionsAndRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var seq uint64
	add := func(session, run, call string, mark journal.Mark) {
		seq++
		e := journal.Entry{Seq: seq, At: at.Add(time.Duration(seq) * time.Second), Kind: "k", Session: session, Run: run, Call: call, Tool: "t", Mark: mark, Leaf: []byte("x")}
		require.NoError(t, s.Append(t.Context(), []journal.Entry{e}))
	}
	for i := range 150 { // of which the first are indexed
		add(fmt.Sprint("s", i%3), fmt.Sprint("r", i/75), fmt.Sprint("c", i), journal.MarkOpened)
		add(fmt.Sprint("s", i%3), fmt.Sprint("r", i/75), fmt.Sprint("c", i), journal.MarkEnded)
	}
	add("s9", "r", "new", journal.MarkOpened) // which is not indexed
	add("s1", "r2", "c1-again", journal.MarkOpened)
	add("", "", "", 0) // of no call
	when := func(seq uint64) time.Time { return at.Add(time.Duration(seq) * time.Second) }
	row := func(session, run string, calls int, first, newest uint64) sqlite.GroupRow {
		return sqlite.GroupRow{Session: session, Run: run, Calls: calls, First: first, Newest: newest, Began: when(first), Latest: when(newest)}
	}
	sessions := []sqlite.GroupRow{row("s0", "", 50, 1, 295), row("s1", "", 51, 3, 302), row("s2", "", 50, 5, 299), row("s9", "", 1, 301, 301)}
	runs := []sqlite.GroupRow{row("s1", "r2", 1, 302, 302), row("s1", "r1", 25, 153, 297), row("s1", "r0", 25, 3, 147)}
	for range 2 {
		r := openReader(t, path)
		all, err := r.Sessions(t.Context(), "", 0)
		require.NoError(t, err)
		assert.Equal(t, sessions, all)
		var paged []sqlite.GroupRow
		for after := ""; ; {
			page, err := r.Sessions(t.Context(), after, 1)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			paged, after = append(paged, page...), page[0].Session
		}
		assert.Equal(t, sessions, paged)

		all, err = r.Runs(t.Context(), "s1", 0, 0)
		require.NoError(t, err)
		assert.Equal(t, runs, all)
		paged = nil
		for before := uint64(0); ; {
			page, err := r.Runs(t.Context(), "s1", before, 2)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			paged, before = append(paged, page...), page[len(page)-1].First
		}
		assert.Equal(t, runs, paged)
		none, err := r.Runs(t.Context(), "nosuch", 0, 0)
		require.NoError(t, err)
		assert.Empty(t, none)
		require.NoError(t, s.Close()) // which indexes all
	}
}
