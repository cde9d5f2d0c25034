package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestUndoneCallsUnderLaterDeclarations: recovery reads the record of an undone call
// under any later declaration of its tool.
// SEMANTICS 6.5.1
func TestUndoneCallsUnderLaterDeclarations(t *testing.T) {
	grouped := func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }
	for name, change := range map[string]func(*runtime.Spec){
		"as it was":        func(*runtime.Spec) {},
		"no undo":          func(s *runtime.Spec) { s.Undo = nil },
		"a shorter undo":   func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{TTL: time.Second} },
		"another group":    func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"h"} },
		"exit and dedupe":  func(s *runtime.Spec) { s.Rules.ExitLoop, s.Dedupe = true, runtime.Dedupe{Mode: runtime.DedupeAlways} },
		"required":         func(s *runtime.Spec) { s.Rules.RequiredBeforeExit = true },
		"other name":       func(s *runtime.Spec) { s.Name = "sign_in" },
		"start constraint": func(s *runtime.Spec) { s.Rules.StartConstraint = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				r := recovered(t, &j, new(loginTool).tool(grouped), readTool(okRead))
				run := r.run()
				turn := run.Turn(engine.TurnConfig{})
				for _, id := range []string{"u1", "u2", "u3"} {
					require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(id, "login", adaLogsIn)).Kind)
				}
				require.Equal(t, undoOK, r.undoOf("u1").Kind)
				closed, err := r.sessionAgain().StartRun(t.Context(), engine.RunConfig{ID: "closed"})
				require.NoError(t, err)
				require.Equal(t, runtime.Completed,
					closed.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("u4", "login", adaLogsIn)).Kind)
				require.NoError(t, closed.Close(t.Context()))
				time.Sleep(time.Minute)
				require.Equal(t, undoOK, r.undoOf("u4").Kind)
				require.Equal(t, undoOK, r.undoOf("u2").Kind)

				r = recovered(t, &j, new(loginTool).tool(grouped, change), readTool(okRead))
				again, open := r.sessionAgain().Run("r")
				require.True(t, open)
				assert.Equal(t, runtime.RunRunning, again.Status().State, "no success of an exit tool was recorded")
				for _, id := range []string{"u1", "u2", "u4"} {
					assert.Equal(t, action.CodeAlreadyUndone, r.undoOf(id).Reason, id)
				}
				assert.Equal(t, runtime.Completed, r.sessionAgain().Await(t.Context(), "u3").Kind)
				if name != "other name" {
					assert.Equal(t, map[string]int{"login": 3}, again.Status().Invocations)
					assert.Equal(t, []string{"login"}, again.Status().Succeeded)
				}
				assert.Empty(t, r.allFaults())

				r = recovered(t, &j, new(loginTool).tool(grouped), readTool(okRead)) // the deploy is rolled back
				assert.Equal(t, undoOK, r.undoOf("u3").Kind)
			})
		})
	}
}

// TestRunEndsAreRecorded: a run that has finished stays finished when the tool that
// finished it is no longer an exit tool.
func TestRunEndsAreRecorded(t *testing.T) {
	exit := func(s *runtime.Spec) { s.Rules.ExitLoop = true }
	required := func(s *runtime.Spec) { s.Name, s.Rules.RequiredBeforeExit = "needed", true }
	for name, row := range map[string]struct {
		required bool
		want     runtime.RunState
		later    runtime.RunState // without any declaration
	}{
		"finished": {false, runtime.RunFinished, runtime.RunFinished},
		"clean-up": {true, runtime.RunCleanup, runtime.RunFinished},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			before := []*runtime.Tool{readTool(okRead, exit)}
			if row.required {
				before = append(before, readTool(okRead, required))
			}
			r := recovered(t, &j, before...)
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			require.Equal(t, row.want, out.Run)

			r = recovered(t, &j, readTool(okRead))
			run, open := r.sessionAgain().Run("r")
			require.True(t, open)
			assert.Equal(t, row.later, run.Status().State)
			out = run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
			assert.Equal(t, runtime.ReasonRunFinished, out.Reason)
		})
	}
}
