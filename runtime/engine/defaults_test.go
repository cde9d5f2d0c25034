package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestDefaultsOfTheEngine checks the values that apply when neither a declaration nor
// the program sets one (SEMANTICS section 8).
// SEMANTICS 8.1.1, 8.1.2, 8.1.3, 8.1.4, 8.1.5, 8.1.6, 8.1.8, 8.1.9, 8.1.10, 8.1.12, 8.1.16, 8.1.17
func TestDefaultsOfTheEngine(t *testing.T) {
	for name, row := range map[string]struct{ want, have time.Duration }{
		"deadline":          {45 * time.Second, (&tools.Tool{Spec: new(runtime.Spec)}).Deadline()},
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
		"queue":         {4, capacity.QueueFactor},
		"open requests": {100, DefaultMaxOpenRequests},
		"reminders":     {2, rules.DefaultReminders},
		"artifact":      {12000, runtime.DefaultArtifactOver},
	} {
		assert.Equal(t, row.want, row.have, name)
	}
}
