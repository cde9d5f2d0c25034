package cli

import (
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/inbox"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// TestEveryVerbReadsTheStoreOfTheEnvironment looks at all verbs with --store.
func TestEveryVerbReadsTheStoreOfTheEnvironment(t *testing.T) {
	t.Setenv(storeVariable, "the.db")
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if flag := cmd.Flags().Lookup("store"); flag != nil {
			n++
			if assert.NotNil(t, cmd.PreRun, cmd.CommandPath()) {
				cmd.PreRun(cmd, nil)
				assert.Equal(t, "the.db", flag.Value.String(), cmd.CommandPath())
				require.NoError(t, cmd.Flags().Set("store", "other.db"))
				cmd.PreRun(cmd, nil)
				assert.Equal(t, "other.db", flag.Value.String(), cmd.CommandPath())
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	assert.GreaterOrEqual(t, n, 18, "verbs with a store")

	replay := newReplay()
	require.NoError(t, replay.Flags().Set("journal", "a.jsonl"))
	replay.PreRun(replay, nil)
	assert.Empty(t, replay.Flags().Lookup("store").Value.String(), "the recording is named already")
}

// TestIDsMayBeCut finds calls by ids that are cut.
func TestIDsMayBeCut(t *testing.T) {
	row := func(session, call string) sqlite.CallRow {
		return sqlite.CallRow{CallKey: journal.CallKey{Session: session, Call: call}}
	}
	for _, c := range []struct {
		rows          []sqlite.CallRow
		session, call string
		want, err     string
	}{
		{[]sqlite.CallRow{row("s", "c12")}, "", "c1", "s/c12", ""},
		{[]sqlite.CallRow{row("s", "c12"), row("s", "c1")}, "", "c1", "s/c1", ""},
		{[]sqlite.CallRow{row("s", "c12"), row("s", "c13")}, "", "c1", "", `2 calls begin with "c1", such as "c12" and "c13"`},
		{[]sqlite.CallRow{row("s2", "c1"), row("s", "c1")}, "s", "c1", "s/c1", ""},
		{[]sqlite.CallRow{row("s2", "c1"), row("s3", "c1")}, "s", "c1", "", `in session "s3" and in session "s2"`},
		{nil, "s", "c1", "", `there is no call "c1" in session "s"`},
	} {
		got, err := onlyCall(c.rows, c.session, c.call)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Session+"/"+got.Call)
	}
}

func TestNoReasonIsSaidTwice(t *testing.T) {
	for want, res := range map[string]inbox.CommandResult{
		"rejected, drift: changed since":  {Result: "rejected", Reason: "drift", Error: "drift: changed since"},
		"failed, handler_error: it broke": {Result: "failed", Reason: "handler_error", Error: "handler error: it broke"},
		"rejected, already_undone":        {Result: "rejected", Reason: "already_undone", Error: "already undone"},
		"interrupted":                     {Result: "interrupted", Reason: "interrupted"},
		"failed, drift: drifting":         {Result: "failed", Reason: "drift", Error: "drifting"},
	} {
		assert.Equal(t, want, refusal(&res))
	}
	assert.Equal(t, "cancelled", (&outcome{Outcome: "cancelled", Reason: "cancelled"}).words())
	assert.Equal(t, "unknown interrupted", (&outcome{Outcome: "unknown", Reason: "interrupted"}).words())
}

func TestRemedyOfAGrantThatIsTooWide(t *testing.T) {
	for widest, want := range map[consent.GrantCover]string{
		consent.CoverExact: "cover exact at most (consent.max_cover): use --cover exact, or leave out --grant",
		consent.CoverArgs:  "cover args at most (consent.max_cover): add --cover args --where",
		consent.CoverTool:  "with the edited arguments a grant may cover less",
	} {
		v := commandVerb{widest: widest, Command: inbox.Command{Kind: inbox.CommandApprove}}
		assert.Contains(t, v.remedy("grant_too_wide"), want)
	}
	v := commandVerb{longest: time.Hour, Command: inbox.Command{Kind: inbox.CommandApprove, For: 2 * time.Hour}}
	assert.Contains(t, v.remedy("grant_too_wide"), "a grant last 1h0m0s at most (consent.max_for): use --for 1h0m0s")
}

func TestShortDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0µs": 0, "340µs": 340 * time.Microsecond, "12ms": 12*time.Millisecond + 900*time.Microsecond, "59s": time.Minute - 1,
		"1m": time.Minute, "23h": 24*time.Hour - 1, "2d": 50 * time.Hour,
	} {
		assert.Equal(t, want, shortDuration(d))
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "2026-11-19": now.Add(-36 * time.Hour), "2026-11-20T10:00:00+01:00": now.Add(-3 * time.Hour),
	} {
		got, err := since(text, now)
		require.NoError(t, err)
		assert.True(t, want.Equal(got), text)
	}
	_, err := since("soon", now)
	assert.Error(t, err)
}
