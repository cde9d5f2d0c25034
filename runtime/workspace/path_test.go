package workspace_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// SEMANTICS 7.5.2
func TestPathsThatAreRefused(t *testing.T) {
	b := newBench(t)
	ctx, tx := b.begin()
	for name, rule := range map[string]string{
		"": "empty", "/a": "absolute", "..": "..", "a/../b": "..", "../a": "..", "a/..": "..", "a\x00b": "NUL", "a//b": "write",
		"./a": "write", "a/": "write", `a\b`: `\`, "a\xff": "UTF-8",
	} {
		_, err := b.ws.ReadFile(ctx, name)
		require.ErrorIs(t, err, workspace.ErrPath, "%q", name)
		require.ErrorContains(t, err, rule)
		_, err = b.ws.ReadDir(ctx, name)
		require.ErrorIs(t, err, workspace.ErrPath, "%q", name)
		b.refused(ctx, name)
	}
	for _, name := range []string{".", ".git", ".git/config", "a/.git/hooks/x", ".GIT/config", ".git./config", "git~1/x", ".ambit-tmp-1"} {
		b.refused(ctx, name)
	}
	require.NoError(t, b.ws.WriteFile(ctx, ".gitignore", nil, 0o600))
	require.NoError(t, tx.Rollback(t.Context()))
}

// refused says that a path cannot be written in any way.
func (b *bench) refused(ctx context.Context, name string) {
	_, snapshot := b.ws.Snapshot(ctx, name)
	_, diff := b.ws.Diff(ctx, name, nil)
	for _, err := range []error{
		b.ws.WriteFile(ctx, name, nil, 0o600), b.ws.Remove(ctx, name), b.ws.Mkdir(ctx, name, 0o700), b.ws.MkdirAll(ctx, name, 0o700),
		b.ws.Rename(ctx, name, "x"), b.ws.Rename(ctx, "x", name), snapshot, diff,
		b.ws.Restore(ctx, workspace.Snapshot{{Path: name}}, nil),
	} {
		require.ErrorIs(b.t, err, workspace.ErrPath, "%q", name)
	}
}

func TestModesThatAreRefused(t *testing.T) {
	b := newBench(t)
	ctx, _ := b.begin()
	require.ErrorIs(t, b.ws.WriteFile(ctx, "a", nil, 0o755|fs.ModeSetuid), fs.ErrInvalid)
	require.ErrorIs(t, b.ws.WriteFile(ctx, "a", nil, 0), fs.ErrInvalid)
	require.ErrorIs(t, b.ws.Mkdir(ctx, "a", 0o755|fs.ModeSticky), fs.ErrInvalid)
	b.put("s", "")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "s"), 0o755|fs.ModeSetuid))
	require.ErrorIs(t, b.ws.WriteFile(ctx, "s", []byte("x"), 0o600), fs.ErrPermission)
	require.ErrorIs(t, b.ws.Remove(ctx, "s"), fs.ErrPermission)
}

// TestLinksThatComeAndGo swaps a directory for a link out of the workspace, and
// for one to .git, while it is written and read.
// SEMANTICS 7.5.2
func TestLinksThatComeAndGo(t *testing.T) {
	const tries = 20_000
	b := newBench(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	b.put(".git/HEAD", "ref")
	b.put("real/secret", "public")
	at := func(name string) string { return filepath.Join(b.dir, name) }
	require.NoError(t, os.Symlink(outside, at("link1")))
	require.NoError(t, os.Symlink(".git", at("link2")))
	var stop atomic.Bool
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for !stop.Load() {
			for _, name := range []string{"real", "link1", "real", "link2"} {
				_ = os.Rename(at(name), at("d"))
				_ = os.Rename(at("d"), at(name))
			}
		}
	})
	ctx, _ := b.begin()
	escapes, wrote, read := 0, 0, 0
	for range tries {
		if b.ws.WriteFile(ctx, "d/new", []byte("x"), 0o600) == nil {
			wrote++
		}
		if data, err := b.ws.ReadFile(ctx, "d/secret"); err == nil {
			read++
			if string(data) == "secret" {
				escapes++
			}
		}
	}
	stop.Store(true)
	swaps.Wait()
	for _, dir := range []string{outside, at(".git")} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, entries, 1, dir)
	}
	t.Logf("%d tries, %d writes and %d reads succeeded, %d escapes", tries, wrote, read, escapes)
	assert.Zero(t, escapes)
}

func TestTheStoreIsNotWithinTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	store, err := content.Open(filepath.Join(dir, "sub", "content"))
	require.NoError(t, err)
	defer store.Close()
	_, err = workspace.Open(dir, store)
	require.ErrorContains(t, err, "keep it outside")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o700))
	_, err = workspace.Open(filepath.Join(dir, "ws"), store, workspace.UndoLogs(filepath.Join(dir, "ws", "undo")))
	require.ErrorContains(t, err, "keep it outside")
	ws, err := workspace.Open(filepath.Join(dir, "ws"), store)
	require.NoError(t, err)
	require.NoError(t, ws.Close())
}

func TestAFileThatIsTooLarge(t *testing.T) {
	dir := t.TempDir()
	store, err := content.Open(filepath.Join(dir, "content"))
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ws", "a"), make([]byte, 101), 0o600))
	ws, err := workspace.Open(filepath.Join(dir, "ws"), store, workspace.MaxFile(100))
	require.NoError(t, err)
	defer ws.Close()
	_, err = ws.Snapshot(t.Context(), "a")
	require.ErrorIs(t, err, workspace.ErrTooLarge)
}

func TestGoVersions(t *testing.T) {
	for _, v := range []string{"go1.26.0", "go1.26.4", "go1.25"} {
		require.ErrorContains(t, workspace.SoundRoot(v), "1.26.5")
	}
	for _, v := range []string{"go1.26.5", "go1.27", "devel go1.27-abc"} {
		require.NoError(t, workspace.SoundRoot(v))
	}
}
