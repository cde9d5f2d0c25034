package takeover_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/takeover"
)

func open(t *testing.T, name string) *takeover.Lock {
	l, err := takeover.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func fine() error { return nil }

// TestEffectKeepsSuccessorOut tries to take over while effects are under way, and
// to begin an effect while a successor takes over.
func TestEffectKeepsSuccessorOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	owner, successor := open(t, name), open(t, name)
	refused := func() {
		err := successor.Take(0, func() error { t.Error("taken over within an effect"); return nil })
		assert.ErrorIs(t, err, takeover.ErrHeld)
		assert.ErrorContains(t, err, name)
	}
	require.NoError(t, owner.Hold(fine, func() {
		require.NoError(t, owner.Hold(fine, refused))
		refused() // the outer effect goes on
	}))
	require.NoError(t, successor.Take(0, func() error {
		err := owner.Hold(fine, func() { t.Error("an effect within a takeover") })
		assert.ErrorIs(t, err, takeover.ErrHeld)
		return nil
	}))
	gone := errors.New("gone")
	assert.ErrorIs(t, owner.Hold(func() error { return gone }, func() { t.Error("an effect of a former owner") }), gone)
	assert.ErrorIs(t, successor.Take(0, func() error { return gone }), gone)
	ran := false
	require.NoError(t, successor.Hold(fine, func() { ran = true }))
	assert.True(t, ran)
}

// TestPanicUnlocks lets an effect panic.
func TestPanicUnlocks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	owner, successor := open(t, name), open(t, name)
	assert.Panics(t, func() { _ = owner.Hold(fine, func() { panic("no") }) })
	require.NoError(t, successor.Take(0, fine))
}

// TestTakeWaits lets an effect end while a successor waits for it.
func TestTakeWaits(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	owner, successor := open(t, name), open(t, name)
	taken := make(chan error)
	require.NoError(t, owner.Hold(fine, func() {
		go func() { taken <- successor.Take(time.Hour, fine) }()
	}))
	require.NoError(t, <-taken)
}

func TestWhatTheFileHolds(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "lock"))
	b := make([]byte, 9)
	for _, text := range []string{"longer", "short"} {
		require.NoError(t, l.Write([]byte(text)))
		n, _ := l.Read(b)
		assert.Equal(t, text, string(b[:n]))
	}
}
