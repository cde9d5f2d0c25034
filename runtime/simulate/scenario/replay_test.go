package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

// TestCasesReplay records every case and replays it, on its own rules and policy:
// nothing is decided otherwise.
// SEMANTICS 3.5.4
func TestCasesReplay(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	replayed, skipped := 0, map[string]int{}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		f, err := Parse(path, src)
		require.NoError(t, err)
		for _, c := range f.Cases {
			t.Run(c.Name, func(t *testing.T) {
				j := &journal.Memory{}
				_, err := c.Run(&Setup{options: []engine.Option{engine.WithJournal(j)}})
				require.NoError(t, err)
				if c.tools == nil || slices.ContainsFunc(c.steps, unrecorded) {
					return
				}
				report, err := replay.Run(t.Context(), j, &replay.Candidate{Declaration: c.tools, Policy: func(*runtime.Registry) (runtime.Policy, error) {
					return &standIn{now: c.policy}, nil
				}})
				require.NoError(t, err)
				replayed += report.Summary.Calls
				for _, r := range report.Runs {
					assert.Nil(t, r.Divergence, "%+v", r.Divergence)
					for _, n := range r.NotReplayable {
						skipped[n.Why]++
					}
				}
			})
		}
	}
	t.Log(replayed, "calls, not replayable:", skipped)
	require.Greater(t, replayed, 250)
}

// unrecorded reports whether a step is one that no recording has: a replay holds a
// recording against one policy, and nothing changes calls behind the engine's back.
func unrecorded(s step) bool {
	switch s.do.(type) {
	case setPolicyStep, *tamperStep:
		return true
	}
	return false
}
