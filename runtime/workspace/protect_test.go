package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// TestProtectedPaths writes what is protected by default, at any depth, and names
// that a file system might take for it.
// SEMANTICS 7.5.2
func TestProtectedPaths(t *testing.T) {
	b := newBench(t)
	ctx, tx := b.begin()
	for _, name := range workspace.DefaultProtected() {
		b.refused(ctx, name)
		b.refused(ctx, "a/"+name+"/b")
	}
	for _, name := range []string{
		".GIT/config", ".git./config", ".git /config", ".git . ./config", ".git:stream", ".git::$INDEX_ALLOCATION/config",
		"git~1/x", "GIT~1/x", "git~1. /x", "git~2", ".g\u200cit/config", ".git\ufeff/config", "\u200e.git", ".gi\u202et",
		".GitModules", "GITMOD~1", "gitmod~4", "gi7eba~1", "gi7eb~10", "GITMO~12", ".gitmodules:$DATA", "gitatt~1", "GI7D29~1",
		".envrc.", "ENVRC~1", ".VSCode/tasks.json", "VSCODE~1/tasks.json", "CLAUDE~1.JSO", "claude~1/settings.json",
		".\u212Airo/x", ".VS", "dir-lo~1.el", "DEVCON~1.JSO",
	} {
		b.refused(ctx, name)
	}
	for _, name := range []string{
		".gitignore", ".github", "git", "git~", "git~x", "~1", "agit~1", "gitmod~", "gitm~1", "claude~1.txt", "vscode", ".vscodes", "envrc", "x.git", ".git2", "a~1",
	} {
		assert.NoError(t, b.ws.WriteFile(ctx, name, nil, 0o600), "%q", name)
	}
	err := b.ws.WriteFile(ctx, "a/.VSCode/x", nil, 0o600)
	assert.EqualError(t, err, `path "a/.VSCode/x": ".vscode" is protected: see workspace.Protect: the path may not be used`)
	require.NoError(t, tx.Rollback(t.Context()))
}

// TestProtectAndUnprotect changes what is protected.
func TestProtectAndUnprotect(t *testing.T) {
	dir := t.TempDir()
	store, err := content.Open(filepath.Join(dir, "content"))
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	ws, err := workspace.Open(filepath.Join(dir, "ws"), store,
		workspace.Protect("Makefile", ".github/workflows"), workspace.Unprotect(".devcontainer"), workspace.Unprotect(".envrc"))
	require.NoError(t, err)
	defer ws.Close()
	tx, err := ws.BeginTx(t.Context(), workspace.Key{Call: "c"})
	require.NoError(t, err)
	ctx := workspace.WithTx(t.Context(), tx)
	for _, name := range []string{"makefile", "sub/Makefile", ".github/workflows/ci.yml", ".GitHub/Workflows", ".git/config", "github~1/workfl~1/ci.yml"} {
		assert.ErrorIs(t, ws.WriteFile(ctx, name, nil, 0o600), workspace.ErrPath, name)
	}
	for _, name := range []string{".github/CODEOWNERS", "sub/.github/workflows/x", ".devcontainer/x", ".envrc"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "ws", filepath.Dir(name)), 0o700))
		assert.NoError(t, ws.WriteFile(ctx, name, nil, 0o600), name)
	}
	require.NoError(t, tx.Rollback(t.Context()))

	for want, opt := range map[string]workspace.Option{
		`Unprotect(".venv"): it is not protected`: workspace.Unprotect(".venv"),
		`Protect("/etc"): want a path`:            workspace.Protect("/etc"),
		`Protect(""): want a path`:                workspace.Protect(""),
		`Protect("."): want a path`:               workspace.Protect("."),
	} {
		_, err := workspace.Open(filepath.Join(dir, "ws"), store, opt)
		assert.ErrorContains(t, err, want)
	}
}
