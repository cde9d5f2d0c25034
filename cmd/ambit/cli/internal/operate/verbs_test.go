package operate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
)

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
	assert.Equal(t, "cancelled", (&store.Outcome{Outcome: "cancelled", Reason: "cancelled"}).Words())
	assert.Equal(t, "unknown interrupted", (&store.Outcome{Outcome: "unknown", Reason: "interrupted"}).Words())
}

func TestRemedyOfAGrantThatIsTooWide(t *testing.T) {
	for widest, want := range map[runtime.GrantCover]string{
		runtime.CoverExact: "cover exact at most (consent.max_cover): use --cover exact, or leave out --grant",
		runtime.CoverArgs:  "cover args at most (consent.max_cover): add --cover args --where",
		runtime.CoverTool:  "with the edited arguments a grant may cover less",
	} {
		v := commandVerb{widest: widest, Command: inbox.Command{Kind: inbox.CommandApprove}}
		assert.Contains(t, v.remedy("grant_too_wide", ""), want)
	}
	v := commandVerb{longest: time.Hour, Command: inbox.Command{Kind: inbox.CommandApprove, For: 2 * time.Hour}}
	assert.Contains(t, v.remedy("grant_too_wide", ""), "a grant last 1h0m0s at most (consent.max_for): use --for 1h0m0s")
}

func TestShortDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0µs": 0, "340µs": 340 * time.Microsecond, "12ms": 12*time.Millisecond + 900*time.Microsecond, "59s": time.Minute - 1,
		"1m": time.Minute, "23h": 24*time.Hour - 1, "2d": 50 * time.Hour,
	} {
		assert.Equal(t, want, shortDuration(d))
	}
}
