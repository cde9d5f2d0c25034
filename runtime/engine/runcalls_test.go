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

// TestUndoOfARunTakesItsCallsAlone: an undo of a run leaves the calls of other runs alone, and has those
// of sub-agents, of other principals and of an earlier run of that id.
// SEMANTICS 4.20.1
func TestUndoOfARunTakesItsCallsAlone(t *testing.T) {
	for name, restart := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			r := recovered(t, &j, new(loginTool).tool())
			s := r.sessionAgain()
			start := func(id string) *engine.Run {
				run, err := s.StartRun(t.Context(), engine.RunConfig{ID: id})
				require.NoError(t, err)
				return run
			}
			call := func(run *engine.Run, id string) {
				out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(id, "login", adaLogsIn))
				require.Equal(t, runtime.Completed, out.Kind, out)
			}
			a, b := start("a"), start("b")
			call(a, "a1")
			call(b, "b1")
			call(a.Child(engine.RunConfig{}), "a2")
			call(b.WithPrincipal("other"), "b2")
			call(a, "a3")
			require.NoError(t, a.Close(t.Context()))
			require.NoError(t, start("empty").Close(t.Context()))
			a = start("a") // the id again
			call(a, "a4")
			if restart {
				r = recovered(t, &j, new(loginTool).tool())
				s = r.sessionAgain()
			}
			require.Equal(t, undoOK, r.undoOf("a1").Kind)
			undo := func(run string) []string {
				return undoingOf(s.Undo(t.Context(), action.UndoRequest{RunID: run, By: runtime.ProgramActor("ops")})).Undone
			}
			assert.Equal(t, []string{"a4", "a3", "a2"}, undo("a"))
			assert.Equal(t, []string{"b2", "b1"}, undo("b"))
			assert.Empty(t, undo("b"), "all of them were undone")
			assert.Empty(t, undo("empty"))
			assert.Empty(t, undo("never"))
		})
	}
}
