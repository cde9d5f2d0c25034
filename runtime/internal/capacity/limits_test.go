package capacity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/capacity"
)

// TestLimits: limits that would let no call run are refused, and the error says which.
func TestLimits(t *testing.T) {
	least := capacity.Limits{Policy: time.Nanosecond, InFlight: 1, Requests: 1}
	require.NoError(t, least.Check())
	for want, change := range map[string]func(*capacity.Limits){
		"minimum budget -1ns":                  func(l *capacity.Limits) { l.Budget = -1 },
		"policy timeout 0s":                    func(l *capacity.Limits) { l.Policy = 0 },
		"at most 0 calls in flight":            func(l *capacity.Limits) { l.InFlight = 0 },
		"at most 0 open requests of a session": func(l *capacity.Limits) { l.Requests = 0 },
	} {
		l := least
		change(&l)
		assert.ErrorContains(t, l.Check(), want)
	}
}
