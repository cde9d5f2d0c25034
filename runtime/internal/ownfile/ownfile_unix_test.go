//go:build unix

package ownfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/ownfile"
)

// SEMANTICS 6.15.2
func TestModes(t *testing.T) {
	good, name := filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(good, nil, 0o600))
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	for mode := os.FileMode(0); mode <= 0o777; mode++ {
		require.NoError(t, os.Chmod(name, mode))
		err := ownfile.Closed(filepath.Join(filepath.Dir(name), "none"), good, name)
		if mode&0o006 == 0 {
			assert.NoError(t, err, mode)
			continue
		}
		require.ErrorIs(t, err, ownfile.ErrOpen, mode)
		assert.ErrorContains(t, err, fmt.Sprintf("%q: all users may read or write it (mode %04o): run chmod o-rwx on it", name, mode))
	}
}

// SEMANTICS 6.15.2
func TestAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	_, err := ownfile.Open(name) // it does not wait for a writer
	require.ErrorIs(t, err, ownfile.ErrNotRegular)
	require.ErrorContains(t, err, "but a pipe")
	require.ErrorIs(t, ownfile.Closed(name), ownfile.ErrNotRegular)
}
