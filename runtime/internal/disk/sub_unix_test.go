//go:build unix

package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// TestSubOfWhatIsNoDirectory: the error says which of these a name stands for, and a pipe without a writer is not waited for.
func TestSubOfWhatIsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), nil, 0o600))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	require.NoError(t, os.Mkdir(at("dir"), 0o700))
	require.NoError(t, os.Symlink("dir", at("link")))
	d, err := disk.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	for name, want := range map[string]error{"file": syscall.ENOTDIR, "pipe": syscall.ENOTDIR, "link": disk.ErrLink, "gone": fs.ErrNotExist} {
		_, err := d.Sub(name)
		require.ErrorIs(t, err, want, name)
	}
	sub, err := d.Sub("dir")
	require.NoError(t, err)
	require.NoError(t, sub.Close())
}
