//go:build !arm

package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBegin(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "a"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("x")
	require.NoError(t, err)
	require.NoError(t, startWriting(f))
	require.Equal(t, File(f), begin(f), "it is as it was")
}

// What cannot be written is told by the sync, and by each that follows.
func TestARefusalIsTheErrorOfTheSync(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	f := begin(w)
	for range 2 {
		require.ErrorIs(t, f.Sync(), syscall.ESPIPE)
		require.ErrorIs(t, All(f), syscall.ESPIPE)
	}
	require.NoError(t, f.Close())
}
