package archive_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
)

// owned records that a process with tools of a window has taken the journal over.
func (a *app) owned(ctx context.Context, window *journal.Window) error {
	return a.record(ctx, journal.Record{Kind: journal.KindOwner, Settings: &journal.Settings{Window: window}})
}

// TestOpenWindows: without its tools a store is archived up to the longest window that its owner has recorded, or that is stated. A
// former owner's longer window holds what that owner has left, until it is over.
// SEMANTICS 6.14.2
func TestOpenWindows(t *testing.T) {
	day, hour := journal.Window{Longest: 24 * time.Hour, Of: `the time for an undo of tool "send"`}, journal.Window{Longest: time.Hour, Of: `the cooldown of tool "send"`}
	stated := func(d time.Duration) *time.Duration { return &d }
	for name, c := range map[string]struct {
		owners []*journal.Window
		stated *time.Duration
		now    time.Duration // after the last entry
		age    time.Duration // of the entries to archive
		want   string        // that it refuses; empty: it does not
	}{
		"no record":                       {want: "the owner of the store has not recorded"},
		"a record without a window":       {owners: []*journal.Window{nil}, now: 1000 * time.Hour, want: "the owner of the store has not recorded"},
		"a later record without a window": {owners: []*journal.Window{&hour, nil}, now: 1000 * time.Hour, want: "the owner of the store has not recorded"},
		"a stated window":                 {stated: stated(0)},
		"a stated window that is open":    {stated: stated(time.Hour), age: 59 * time.Minute, want: "the window that was stated is 1h0m0s: "},
		"no window":                       {owners: []*journal.Window{{}}},
		"an open window":                  {owners: []*journal.Window{&hour}, age: 59 * time.Minute, want: hour.Of + " is 1h0m0s: entries from after "},
		"a time to come":                  {owners: []*journal.Window{&hour}, now: 2 * time.Hour, age: -10 * time.Hour, want: hour.Of},
		"a window that is over":           {owners: []*journal.Window{&hour}, now: time.Hour, age: time.Hour},
		"a shorter one that is stated":    {owners: []*journal.Window{&hour}, stated: stated(0), age: 59 * time.Minute, want: hour.Of},
		"a former owner":                  {owners: []*journal.Window{&day, &hour}, now: 2 * time.Hour, age: time.Hour, want: day.Of},
		"a former owner, long ago":        {owners: []*journal.Window{&day, &hour}, now: 25 * time.Hour, age: time.Hour},
		"one before that":                 {owners: []*journal.Window{&day, &hour, {}}, now: 2 * time.Hour, want: day.Of},
		"a former owner with less":        {owners: []*journal.Window{{Longest: time.Minute, Of: "a cooldown"}, &hour}, now: time.Hour, age: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := openApp(t.Context(), filepath.Join(t.TempDir(), "a.db"))
			require.NoError(t, err)
			for _, w := range c.owners {
				require.NoError(t, a.owned(t.Context(), w))
				require.NoError(t, a.call(t.Context(), "s", "r", "c"+string(rune('0'+a.seq)), false))
			}
			require.NoError(t, a.call(t.Context(), "s", "r", "last", false))
			require.NoError(t, a.log.Checkpoint(t.Context()))
			require.NoError(t, a.call(t.Context(), "s", "r", "stays", false))
			now := began.Add(time.Duration(a.seq)*time.Minute + c.now)
			notes, err := a.notes()
			require.NoError(t, err)
			_, err = archive.Write(t.Context(), &archive.Config{
				Store: a.store, Verifier: a.verifier, Notes: notes, Before: now.Add(-c.age), To: a.path + ".segment", Now: now, Window: c.stated,
			})
			require.NoError(t, a.close(t.Context()))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var refused *archive.Refusal
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.What, c.want)
			assert.NotEmpty(t, refused.Remedy)
		})
	}
}

// TestWindowsOutliveTheirEntries: the entry in which the owner has recorded the window is archived, and the next archive knows it.
// SEMANTICS 6.14.2
func TestWindowsOutliveTheirEntries(t *testing.T) {
	dir := t.TempDir()
	a, err := openApp(t.Context(), filepath.Join(dir, "a.db"))
	require.NoError(t, err)
	day := journal.Window{Longest: 24 * time.Hour, Of: `the time for an undo of tool "send"`}
	require.NoError(t, a.owned(t.Context(), &day))
	require.NoError(t, a.owned(t.Context(), &journal.Window{}))
	for i, now := range []time.Duration{25 * time.Hour, time.Minute} {
		require.NoError(t, a.call(t.Context(), "s", "r", "call-"+string(rune('1'+i)), false))
		require.NoError(t, a.log.Checkpoint(t.Context()))
		require.NoError(t, a.call(t.Context(), "s", "r", "later-"+string(rune('1'+i)), false))
		notes, err := a.notes()
		require.NoError(t, err)
		at := began.Add(time.Duration(a.seq)*time.Minute + now)
		_, err = archive.Write(t.Context(), &archive.Config{
			Store: a.store, Verifier: a.verifier, Notes: notes, Before: at, To: filepath.Join(dir, string(rune('1'+i))), Now: at,
		})
		if i == 0 {
			require.NoError(t, err)
			a = a.reopened(t)
			continue
		}
		require.ErrorContains(t, err, day.Of)
	}
	require.NoError(t, a.close(t.Context()))
}
