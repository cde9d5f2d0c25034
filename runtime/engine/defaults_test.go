package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestDefaultsOfTheEngine checks the values that apply when neither a declaration nor
// the program sets one (SEMANTICS section 8).
func TestDefaultsOfTheEngine(t *testing.T) {
	for name, row := range map[string]struct{ want, have time.Duration }{
		"deadline":          {45 * time.Second, deadlineOf(new(runtime.Spec))},
		"minimum budget":    {5 * time.Second, DefaultMinimumBudget},
		"consent":           {300 * time.Second, consent.DefaultTimeout},
		"longest grant":     {24 * time.Hour, consent.DefaultMaxFor},
		"undo":              {time.Hour, DefaultUndoTTL},
		"first retry":       {time.Second, DefaultRetryInitial},
		"longest wait":      {30 * time.Second, DefaultRetryCap},
		"grace":             {5 * time.Second, grace},
		"policy evaluation": {time.Second, runtime.DefaultPolicyTimeout},
		"heartbeat":         {10 * time.Second, DefaultHeartbeat},
		"stale":             {60 * time.Second, DefaultStale},
	} {
		assert.Equal(t, row.want, row.have, name)
	}
	for name, row := range map[string]struct{ want, have int }{
		"input":         {64 << 10, runtime.DefaultInputLimit},
		"output":        {1 << 20, runtime.DefaultOutputLimit},
		"in flight":     {1024, DefaultMaxInFlight},
		"queue":         {4, queueFactor},
		"open requests": {100, DefaultMaxOpenRequests},
		"reminders":     {2, rules.DefaultReminders},
		"artifact":      {12000, runtime.DefaultArtifactOver},
	} {
		assert.Equal(t, row.want, row.have, name)
	}
}

// TestBackoff: the wait doubles up to its cap, and half of it is random.
func TestBackoff(t *testing.T) {
	r := &runtime.Retry{Initial: time.Second, Cap: 10 * time.Second}
	for i, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
		seen := map[time.Duration]bool{}
		for range 1000 {
			d := backoff(r, i+1)
			seen[d] = true
			assert.LessOrEqual(t, d, most, i)
			assert.GreaterOrEqual(t, d, most/2, i)
		}
		assert.Greater(t, len(seen), 100, "calls that failed together come back together")
		longest := time.Duration(0)
		for d := range seen {
			longest = max(longest, d)
		}
		assert.Greater(t, longest, most*9/10, i)
	}
}
