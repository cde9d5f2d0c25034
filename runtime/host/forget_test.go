package host_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
)

// TestACallThatIsForgottenWhileItsSessionIsInMemory: the session still knows it, and denies another call its id. When the session is read
// again, the id is free.
// SEMANTICS 6.14.10
func TestACallThatIsForgottenWhileItsSessionIsInMemory(t *testing.T) {
	c := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Retain: host.KeepAll}
	h, err := host.Open(t.Context(), c)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(t.Context())) }()
	call := func(id, title string) runtime.Outcome {
		run, err := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: id, Tool: "note_write", Input: []byte(`{"title": "` + title + `"}`)})
		require.NoError(t, run.Close(t.Context()))
		return out
	}
	first := call("c1", "Shopping")
	require.Equal(t, runtime.Completed, first.Kind, "%v %s", first.Reason, first.Message)
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Completed, call("c2", "Shopping").Kind)
	require.NoError(t, h.ArchiveOld(t.Context(), time.Now()))
	require.NotZero(t, mustArchived(t, h))
	require.Equal(t, runtime.ReasonCallIDReused, call("c1", "Other").Reason, "by the same process")
	require.Equal(t, runtime.Completed, call("c1", "Shopping").Kind, "the outcome is in memory")
	require.NoError(t, h.Close(t.Context()))

	h, err = host.Open(t.Context(), c)
	require.NoError(t, err)
	out := call("c1", "Other")
	require.Equal(t, runtime.Completed, out.Kind, "it is forgotten: %s", out.Message)
	require.Equal(t, runtime.Completed, h.Executor.Session(engine.SessionConfig{ID: "s"}).Await(t.Context(), "c1").Kind)
	require.NoError(t, h.Close(t.Context()))

	h, err = host.Open(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, h.Executor.Session(engine.SessionConfig{ID: "s"}).Await(t.Context(), "c1").Kind)
	require.Equal(t, runtime.ReasonCallIDReused, call("c1", "Shopping").Reason, "it is another one")
}
