package audit

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// TestWhatIsArchived: what an anchored checkpoint proves, is old enough and is before the first call that has not ended.
func TestWhatIsArchived(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var list []journal.Entry
	for seq := uint64(1); seq <= 90; seq++ {
		r := &journal.Record{Kind: "tool.invoked", At: start.Add(time.Duration(seq) * time.Hour), Session: "s", Call: fmt.Sprint("c", seq), Mark: journal.MarkOpened}
		if seq%2 == 0 {
			r.Call, r.Mark = fmt.Sprint("c", seq-1), journal.MarkEnded
		}
		if seq == 62 {
			r.Call, r.Mark = "", journal.MarkNone // so that the call c61 stays open
		}
		e, err := journal.NewEntry(seq, r, nil)
		require.NoError(t, err)
		list = append(list, e)
	}
	require.NoError(t, s.Append(t.Context(), list))
	require.NoError(t, s.Close())
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()

	var proofs []audit.Proof
	for size := uint64(10); size <= 90; size += 10 {
		proofs = append(proofs, audit.Proof{Size: size})
	}
	at := func(seq int) time.Time { return start.Add(time.Duration(seq) * time.Hour) }
	for _, c := range []struct {
		first, anchored uint64
		before          time.Time
		want            uint64
		refused         string
	}{
		{1, 90, at(100), 60, ""}, // the call
		{1, 45, at(100), 40, ""}, // the anchor
		{1, 90, at(31), 30, ""},  // the time
		{1, 90, at(30), 20, ""},
		{31, 90, at(41), 40, ""},
		{1, 9, at(100), 0, "an anchored checkpoint proves the entries up to 9"},
		{41, 40, at(100), 0, "an anchored checkpoint proves the entries up to 40, and those from 41 on"},
		{61, 90, at(100), 0, "a call that has not ended begins at entry 61"},
		{1, 90, at(10), 0, "no checkpoint of entries from 1 on is older than 2026-01-02T13:04:05Z"},
		{31, 90, at(40), 0, "no checkpoint of entries from 31 on is older"},
	} {
		p, err := chosen(t.Context(), r, c.first, proofs, c.anchored, c.before)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, p.Size)
	}
}
