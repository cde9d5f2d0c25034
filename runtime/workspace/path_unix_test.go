//go:build unix

package workspace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// SEMANTICS 7.5.2
func TestSpecialFilesAreRefused(t *testing.T) {
	b := newBench(t)
	b.put("real/a", "x")
	b.put(".git/config", "x")
	require.NoError(t, os.Symlink("real", filepath.Join(b.dir, "link")))
	require.NoError(t, os.Symlink(".git", filepath.Join(b.dir, "g")))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(b.dir, "out")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600))
	ctx, tx := b.begin()
	for _, name := range []string{"link/a", "g/config", "g/new"} {
		require.ErrorIs(t, b.ws.WriteFile(ctx, name, []byte("y"), 0o600), disk.ErrLink, name)
	}
	for _, name := range []string{"link", "out", "pipe"} {
		require.ErrorIs(t, b.ws.WriteFile(ctx, name, []byte("y"), 0o600), workspace.ErrSpecial, name)
		require.ErrorIs(t, b.ws.Remove(ctx, name), workspace.ErrSpecial, name)
	}
	data, err := b.ws.ReadFile(ctx, "link/a")
	require.NoError(t, err)
	assert.Equal(t, "x", string(data))
	_, err = b.ws.ReadFile(ctx, "out")
	require.Error(t, err)
	_, err = b.ws.ReadFile(ctx, "pipe")
	require.ErrorIs(t, err, fs.ErrInvalid)
	digest, err := tx.Seal(ctx)
	require.NoError(t, err)
	assert.Nil(t, digest)
}
