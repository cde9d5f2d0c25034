package room_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/room"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// TestLacks: a limit that a declaration gives has to be there, and no other is looked at.
func TestLacks(t *testing.T) {
	dir := t.TempDir()
	for _, what := range []runtime.LimitName{runtime.LimitMemory, runtime.LimitProcesses, runtime.LimitScratch} {
		enough := &process.Spec{Accepts: map[runtime.LimitName]runtime.Level{what: runtime.LevelWatched}, Limits: runtime.ProcessLimits{Memory: 1, Processes: 1, Scratch: 1}}
		require.NoError(t, room.Lacks(enough, dir), what)

		much := *enough
		much.Limits = runtime.ProcessLimits{Memory: math.MaxInt64 - 1, Processes: math.MaxInt - 1, Scratch: math.MaxInt64 - 1}
		var lack *process.LackError
		require.True(t, errors.As(room.Lacks(&much, dir), &lack), what)
		require.Equal(t, what, lack.What)
		require.Positive(t, lack.Have)
		require.Less(t, lack.Have, lack.Need)

		much.Accepts = nil
		require.NoError(t, room.Lacks(&much, dir), "the declaration is silent about %s", what)
	}
	much := &process.Spec{Accepts: map[runtime.LimitName]runtime.Level{runtime.LimitScratch: runtime.LevelWatched}, Limits: runtime.ProcessLimits{Scratch: math.MaxInt64 - 1}}
	require.NoError(t, room.Lacks(much, ""), "the private folder is in memory")
}
