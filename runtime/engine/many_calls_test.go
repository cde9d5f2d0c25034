package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestManyCallsOfASessionAreReported: the error handler is told once of a session with many calls, by the call that exceeds
// the limit.
// SEMANTICS 6.14.5
func TestManyCallsOfASessionAreReported(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes more than 10,000 calls")
	}
	r := newRig(t, readTool(okRead))
	turn := r.turn()
	for i := range engine.ManyCalls {
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).Kind)
	}
	require.Empty(t, r.allFaults())
	for i := range 3 {
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("d", i), "file_read", goodInput)).Kind)
	}
	faults := r.allFaults()
	require.Len(t, faults, 1)
	assert.Contains(t, faults[0].Error(), `session "s" has more than 10000 calls`)
	assert.Equal(t, "s", faults[0].SessionID)
	assert.Equal(t, runtime.ReasonNone, faults[0].Reason)
}
