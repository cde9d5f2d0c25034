package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestFence takes a store over although its owner lives: its lock file is gone.
// While an effect is under way it cannot be taken over, and afterwards the former
// owner has no effects.
func TestFence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	former, err := sqlite.Open(path)
	require.NoError(t, err)
	require.NoError(t, former.Fence(t.Context(), func() {
		require.NoError(t, os.Remove(path+".lock"))
		_, err := sqlite.Open(path)
		require.ErrorIs(t, err, sqlite.ErrOwned)
		assert.ErrorContains(t, err, "carrying out an effect")
	}))
	successor := open(t, path)
	require.Greater(t, successor.Epoch(), former.Epoch())
	err = former.Fence(t.Context(), func() { t.Error("an effect of a former owner") })
	require.ErrorIs(t, err, journal.ErrLost)
	ran := false
	require.NoError(t, successor.Fence(t.Context(), func() { ran = true }))
	assert.True(t, ran)
	assert.Error(t, former.Close(), "what it has lost it cannot close in order")
}
