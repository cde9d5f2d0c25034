package workspace_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// TestHandlersWithoutAnExecutor opens a workspace as a program does: a test of a
// handler writes through it in a transaction of its own, and in no other way.
func TestHandlersWithoutAnExecutor(t *testing.T) {
	dir := t.TempDir()
	store, err := content.Open(filepath.Join(t.TempDir(), "content"))
	require.NoError(t, err)
	defer store.Close()
	ws, err := workspace.Open(dir, store)
	require.NoError(t, err)
	defer ws.Close()
	tx, err := ws.BeginTx(t.Context(), workspace.Key{Session: "s", Call: "c"})
	require.NoError(t, err)

	require.ErrorIs(t, ws.WriteFile(t.Context(), "a", []byte("text"), 0o600), runtime.ErrNoCall)
	require.NoError(t, ws.WriteFile(workspace.WithTx(t.Context(), tx), "a", []byte("text"), 0o600))
	require.FileExists(t, filepath.Join(dir, "a"))
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoFileExists(t, filepath.Join(dir, "a"))
}
