package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestUndoOfNothing: an operator who misspells a run is told, and so is who names nothing. A run that is open, or has
// made a call that has nothing to undo, is undone.
// SEMANTICS 4.20.9
func TestUndoOfNothing(t *testing.T) {
	for name, r := range map[string]*rig{"in memory": newRig(t, readTool(okRead)), "with a journal": recovered(t, new(journal.Memory), readTool(okRead))} {
		t.Run(name, func(t *testing.T) {
			s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			run, err := s.StartRun(t.Context(), engine.RunConfig{ID: "billing"})
			require.NoError(t, err)
			undo := func(req action.UndoRequest) (action.UndoResult, error) {
				req.By = runtime.ProgramActor("ops")
				return s.Undo(t.Context(), req)
			}
			for _, q := range []action.UndoRequest{{RunID: "biling"}, {RunID: "biling", DryRun: true}, {}, {DryRun: true}, {CallID: "c9"}} {
				res, err := undo(q)
				assert.Equal(t, action.CodeUnknownCall, codeOf(err), q)
				assert.False(t, res.Complete)
			}
			res, err := undo(action.UndoRequest{RunID: "billing"})
			require.NoError(t, err)
			assert.True(t, res.Complete)
			run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c", "file_read", goodInput))
			require.NoError(t, run.Close(t.Context()))
			_, err = undo(action.UndoRequest{RunID: "billing"})
			require.NoError(t, err)
		})
	}
}
