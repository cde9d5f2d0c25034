package operate

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestSessionsThatHaveEnded: what comes after the end of a session, and snapshots, which take it in, do not hide it. A session
// whose latest call is open has not ended.
func TestSessionsThatHaveEnded(t *testing.T) {
	opened := journal.Record{Kind: runtime.EventInvoked.String(), Call: "c", Mark: journal.MarkOpened}
	end := journal.Record{Kind: journal.KindSessionEnded}
	late := journal.Record{Kind: runtime.EventLateResult.String(), Call: "c"}
	snapshot := func(over bool) journal.Record {
		return journal.Record{Kind: journal.KindSnapshot, Snapshot: &journal.Snapshot{Over: over}}
	}
	cases := map[string][]journal.Record{
		"ended":                     {opened, end},
		"ended, and late news":      {opened, end, late, late},
		"ended, snapshot":           {opened, end, snapshot(true), late},
		"ended, snapshot and page":  {opened, end, {Kind: journal.KindCalls}, snapshot(true)},
		"goes on":                   {opened, late},
		"goes on, snapshot":         {opened, snapshot(false), late},
		"goes on, snapshot, a call": {opened, snapshot(false), opened},
		"goes on, a run":            {{Kind: journal.KindRunStarted}},
		"ended, snapshot long ago":  {opened, snapshot(false), opened, late, end},
		"nothing":                   nil,
	}
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	var entries []journal.Entry
	for id, records := range cases {
		for _, r := range records {
			r.Session, r.At = id, time.Unix(1, 0).UTC()
			e, err := journal.NewEntry(uint64(len(entries)+1), &r, nil)
			require.NoError(t, err)
			entries = append(entries, e)
		}
	}
	require.NoError(t, s.Append(t.Context(), entries))
	require.NoError(t, s.Close())
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for id := range cases {
		ended, err := hasEnded(t.Context(), r, id)
		require.NoError(t, err)
		assert.Equal(t, id[0] == 'e', ended, id)
	}
}
