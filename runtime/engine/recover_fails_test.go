package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestNothingRunsAfterARecoveryThatFailed: neither a call that may be run again nor a
// new call runs, because a participant does not say what it holds.
func TestNothingRunsAfterARecoveryThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		never, ran := make(chan struct{}), 0
		twice := func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{Max: 2} }
		tool := readTool(func(context.Context, *readInput) (*readOutput, error) {
			ran++
			<-never
			return nil, context.Canceled
		}, twice)
		turn := recovered(t, &j, tool).turn()
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		synctest.Wait()

		l := &ledgerOfWrites{
			open:  map[runtime.CallKey][]string{{Session: "s", Call: "stranger"}: {}},
			fails: map[string]error{"unsettled": errors.New("the disk does not answer")},
		}
		before, err := j.Read(t.Context(), 0, 99)
		require.NoError(t, err)
		reg, err := runtime.NewRegistry(tool)
		require.NoError(t, err)
		exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(&j), engine.WithParticipant("writes", l))
		require.NoError(t, err)
		require.Error(t, exec.Recover(t.Context()))
		synctest.Wait()
		run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r2"})
		assert.ErrorContains(t, err, "recovery has failed")
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.NotEqual(t, runtime.Completed, out.Kind)
		assert.Equal(t, 1, ran)
		after, err := j.Read(t.Context(), 0, 99)
		require.NoError(t, err)
		assert.Equal(t, before, after, "nothing is recorded")
		close(never)
		synctest.Wait()
	})
}
