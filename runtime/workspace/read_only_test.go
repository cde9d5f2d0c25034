package workspace_test

import (
	"context"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// TestReadToolWritesNothing lets the handler of a tool of effect read do all that a
// workspace offers.
func TestReadToolWritesNothing(t *testing.T) {
	b := newBench(t)
	b.openFenced(nil)
	b.put("a", "before")
	before := b.tree()
	var writes []error
	read := func(ctx context.Context, in *value) (*value, error) {
		if _, err := b.ws.ReadFile(ctx, "a"); err != nil {
			return nil, err
		}
		was, err := b.ws.Snapshot(ctx, "a")
		if err != nil {
			return nil, err
		}
		writes = []error{
			b.ws.WriteFile(ctx, "a", []byte("x"), 0o600), b.ws.Remove(ctx, "a"), b.ws.Mkdir(ctx, "d", 0o700), b.ws.MkdirAll(ctx, "d/e", 0o700),
			b.ws.Rename(ctx, "a", "b"), b.ws.Restore(ctx, workspace.Snapshot{}.WithFile("a", []byte("before"), 0o644), was),
		}
		return in, nil
	}
	reg, err := runtime.NewRegistry(runtime.NewTool(&runtime.Spec{Name: "look", Version: "1.0.0", Effect: runtime.SideEffectRead}, &valueRule, read))
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, allowAll, engine.WithParticipant("files", b.ws))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{Tool: "look", Input: []byte(`{"n":1}`)})
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	require.NotEmpty(t, writes)
	for i, err := range writes {
		assert.ErrorIs(t, err, runtime.ErrReadOnly, "write %d", i)
		assert.ErrorContains(t, err, `tool "look" cannot write through participant "files"`)
	}
	require.NoError(t, exec.Shutdown(t.Context()))
	assert.Equal(t, before, b.tree())
	b.noLogs()
}
