package engine_test

import (
	goruntime "runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestAnExecutorIsFreedAfterItsShutdown: no timer of an idle session holds it.
func TestAnExecutorIsFreedAfterItsShutdown(t *testing.T) {
	exec := func() weak.Pointer[engine.Executor] {
		reg, err := runtime.NewRegistry(readTool(okRead))
		require.NoError(t, err)
		e, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(new(journal.Memory)), engine.WithPendingRequests())
		require.NoError(t, err)
		require.NoError(t, e.Recover(t.Context()))
		run, err := e.Session(engine.SessionConfig{ID: "s"}).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, e.Shutdown(t.Context()))
		return weak.Make(e)
	}()
	for i := 0; i < 100 && exec.Value() != nil; i++ { // goroutines of the executor are ending
		goruntime.Gosched()
		goruntime.GC()
	}
	assert.Nil(t, exec.Value())
}
