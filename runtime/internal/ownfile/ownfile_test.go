package ownfile_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/ownfile"
)

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	_, err := ownfile.Open(name)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, ownfile.Regular(name))
	require.NoError(t, ownfile.Closed(name))
	require.NoError(t, os.WriteFile(name, []byte("text"), 0o600))
	f, err := ownfile.Open(name)
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	require.NoError(t, f.Close())

	_, err = ownfile.Open(filepath.Dir(name))
	require.ErrorIs(t, err, ownfile.ErrNotRegular)
	require.ErrorContains(t, err, "it is no regular file but a directory")
	require.ErrorIs(t, ownfile.Regular(os.DevNull), ownfile.ErrNotRegular)
}
