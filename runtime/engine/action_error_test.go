package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestActionError: an error of an action has its code, a text for operators and its cause.
func TestActionError(t *testing.T) {
	var j journal.Memory
	l := &ledgerOfWrites{}
	drift := fmt.Errorf("the page: %w", runtime.ErrDrift)
	r := undoRig(t, &j, l, nil, restoreTool(l, func(context.Context) error { return drift }))
	r.puts()
	_, err := r.sessionAgain().Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")})
	require.EqualError(t, err, "drift: the page: changed since the call")
	assert.ErrorIs(t, err, drift)
	assert.Equal(t, action.CodeDrift, codeOf(err))

	_, err = r.sessionAgain().Undo(t.Context(), action.UndoRequest{CallID: "c2", By: runtime.ProgramActor("ops")})
	require.EqualError(t, err, "unknown_call")
	assert.NoError(t, errors.Unwrap(err))

	res, err := r.sessionAgain().Undo(t.Context(), action.UndoRequest{RunID: "r", By: runtime.ProgramActor("ops")})
	require.EqualError(t, err, "failed")
	assert.Equal(t, []string{"c1"}, res.Failed)
	assert.Equal(t, action.CodeDrift, codeOf(res.Calls[0].Err))

	assert.Equal(t, action.CodeUnknownRequest, codeOf(r.exec.Revoke(t.Context(), "q", runtime.ProgramActor("alice"), "")))
	assert.Equal(t, action.CodeUnknownRequest, codeOf(new(engine.Executor).Revoke(t.Context(), "q", runtime.ProgramActor("alice"), "")))
}
