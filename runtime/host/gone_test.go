package host_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestAStoreThatIsGoneIsNotBegun: all files of the store are lost, and an anchor elsewhere knows of it. The start is
// refused and makes nothing, and each remedy that it names works.
//
// SEMANTICS 6.15.3
func TestAStoreThatIsGoneIsNotBegun(t *testing.T) {
	anchor := filepath.Join(t.TempDir(), "notes")
	saved := filepath.Join(t.TempDir(), "saved.backup")
	key := filepath.Join(t.TempDir(), "key")
	config := func(dir string) host.Config {
		return host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Anchor: audit.FileAnchor{Path: anchor}, Report: func(error) {}}
	}
	first := filepath.Join(t.TempDir(), "var")
	h, err := host.Open(t.Context(), config(first))
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Close(t.Context()))
	_, err = backup.Write(t.Context(), saved, backup.Source{Store: filepath.Join(first, "ambit.db")})
	require.NoError(t, err)
	secret, err := os.ReadFile(filepath.Join(first, "ambit.db.audit"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, secret, 0o600))
	signer, err := audit.ReadSigner(key)
	require.NoError(t, err)

	refused := func() (dir, store string) {
		dir = filepath.Join(t.TempDir(), "var")
		for range 2 {
			_, err := host.Open(t.Context(), config(dir))
			require.ErrorIs(t, err, host.ErrGone)
			assert.ErrorContains(t, err, "the store and its keys are gone: ")
			assert.ErrorContains(t, err, "ambit restore FILE --store "+filepath.Join(dir, "ambit.db"))
			assert.NoDirExists(t, dir)
		}
		return dir, filepath.Join(dir, "ambit.db")
	}
	started := func(c host.Config) {
		t.Helper()
		h, err := host.Open(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, h.Close(t.Context()))
	}

	dir, store := refused()
	_, err = backup.Restore(t.Context(), saved, store, backup.Target{Restoration: sqlite.Restoration{By: "me", Reason: "lost"}, Signer: signer, Anchors: []string{anchor}})
	require.NoError(t, err)
	_, err = host.Open(t.Context(), config(dir))
	require.ErrorContains(t, err, "put it back from where a copy of it is kept")
	require.NoError(t, os.WriteFile(store+".audit", secret, 0o600))
	started(config(dir))

	dir, store = refused()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	_, err = backup.Record(t.Context(), store, sqlite.Begin, sqlite.Restoration{By: "me", Reason: "lost"}, signer, []string{anchor})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(store+".audit", secret, 0o600))
	started(config(dir))

	dir, _ = refused()
	other := config(dir)
	other.Origin = "ambit.local/other"
	started(other)
	started(other)
}

// TestARefusedStartMakesNothing: what is wrong is found before a store and its keys are made.
//
// SEMANTICS 6.15.3
func TestARefusedStartMakesNothing(t *testing.T) {
	for name, prepare := range map[string]func(dir string, c *host.Config){
		"a signer that is none":    func(dir string, _ *host.Config) { put(t, filepath.Join(dir, "ambit.db.audit"), 0o600) },
		"a signer for all":         func(dir string, _ *host.Config) { put(t, filepath.Join(dir, "ambit.db.audit"), 0o644) },
		"tokens for all":           func(dir string, _ *host.Config) { put(t, filepath.Join(dir, "ambit.db.tokens"), 0o666) },
		"a workspace that is gone": func(dir string, c *host.Config) { c.Workspace = filepath.Join(dir, "none") },
		"a port in use": func(_ string, c *host.Config) {
			other, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = other.Close() })
			c.Serve = host.Serve{Addr: other.Addr().String()}
		},
		"an anchor that is unusable": func(dir string, c *host.Config) { c.Anchor = audit.FileAnchor{Path: dir} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Report: func(error) {}}
			prepare(dir, &c)
			before, err := os.ReadDir(dir)
			require.NoError(t, err)
			_, err = host.Open(t.Context(), c)
			require.Error(t, err)
			after, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, after, len(before), "%v", after)
		})
	}
}

func put(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte("what it is not"), 0o600))
	require.NoError(t, os.Chmod(name, mode))
}
