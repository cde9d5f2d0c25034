package workspace_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// TestTransactionsOfCalls lets an executor commit and roll back.
func TestTransactionsOfCalls(t *testing.T) {
	b := newBench(t)
	store, err := content.Open(filepath.Join(b.state, "content"))
	require.NoError(t, err)
	defer store.Close()
	ws, err := workspace.Open(b.dir, store)
	require.NoError(t, err)
	defer ws.Close()
	b.put("a", "before")
	const fails, stays, hangs = 1, 2, 3
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var late error
	turn, wait := newTurn(t, time.Minute, func(ctx context.Context, n int64) error {
		if err := ws.WriteFile(ctx, "a", []byte{byte('0' + n)}, 0o600); err != nil {
			return err
		}
		switch n {
		case fails:
			return errors.New("no")
		case hangs:
			cancel()
			<-release
			late = ws.WriteFile(ctx, "a", []byte("late"), 0o600)
		}
		return nil
	}, engine.WithParticipant("files", ws))
	call := func(input string) runtime.Outcome {
		return turn.Execute(ctx, runtime.Call{Tool: "n", Input: []byte(input)})
	}
	out := call(`{"n":1}`)
	assert.Equal(t, runtime.Failed, out.Kind)
	assert.True(t, out.RolledBack)
	assert.Equal(t, "before", b.text("a"))
	out = call(`{"n":2}`)
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Equal(t, "2", b.text("a"))
	out = call(`{"n":3}`)
	assert.Equal(t, runtime.Cancelled, out.Kind, out.Message)
	assert.True(t, out.RolledBack)
	assert.Equal(t, "2", b.text("a"))
	close(release)
	wait()
	require.ErrorIs(t, late, runtime.ErrFenced)
	assert.Equal(t, "2", b.text("a"))
	keys, err := ws.Unsettled(t.Context())
	require.NoError(t, err)
	assert.Empty(t, keys)
}

// TestPartThatTheHandlerEnds: by the seam of participants. What stands is not reported as rolled back.
//
// SEMANTICS 2.1.6, 6.8.5
func TestPartThatTheHandlerEnds(t *testing.T) {
	b := newBench(t)
	store, err := content.Open(filepath.Join(b.state, "content"))
	require.NoError(t, err)
	defer store.Close()
	ws, err := workspace.Open(b.dir, store)
	require.NoError(t, err)
	defer ws.Close()
	b.put("a", "before")
	turn, _ := newTurn(t, time.Minute, func(ctx context.Context, n int64) error {
		if err := ws.WriteFile(ctx, "a", []byte{byte('0' + n)}, 0o600); err != nil {
			return err
		}
		part, err := runtime.WritePartOf(ctx, ws)
		require.NoError(t, err)
		if n == 1 {
			return part.Rollback(ctx)
		}
		_, err = part.Seal(ctx)
		return errors.Join(err, part.Commit(ctx))
	}, engine.WithParticipant("files", ws))
	for _, c := range []struct {
		input, text string
		rolledBack  bool
	}{{`{"n":1}`, "before", true}, {`{"n":2}`, "2", false}} {
		out := turn.Execute(t.Context(), runtime.Call{Tool: "n", Input: []byte(c.input)})
		assert.Equal(t, runtime.ReasonCommitFailed, out.Reason)
		assert.Equal(t, c.rolledBack, out.RolledBack)
		assert.Equal(t, c.text, b.text("a"))
	}
}
