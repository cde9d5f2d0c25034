//go:build unix

package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestFilesThatOthersMayUse: a start stops at each file beside the store that proves something, and goes on where
// a group is meant.
//
// SEMANTICS 6.15.2
func TestFilesThatOthersMayUse(t *testing.T) {
	dir := t.TempDir()
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Report: func(error) {}}
	start := func() error {
		h, err := host.Open(t.Context(), config)
		if err != nil {
			return err
		}
		token, _, err := tokens.New("alice", nil)
		return errors.Join(err, h.Tokens.Add(t.Context(), token), h.Close(t.Context()))
	}
	require.NoError(t, start())
	for _, c := range []struct {
		file    string
		mode    os.FileMode
		refused string
	}{
		{"ambit.db", 0o666, "chmod o-rwx"},
		{"ambit.db", 0o604, "chmod o-rwx"},
		{"ambit.db", 0o640, ""},
		{"ambit.db.keys", 0o644, "chmod o-rwx"},
		{"ambit.db.keys", 0o602, "chmod o-rwx"},
		{"ambit.db.keys", 0o640, ""},
		{"ambit.db.tokens", 0o666, "chmod o-rwx"},
		{"ambit.db.tokens", 0o604, "chmod o-rwx"},
		{"ambit.db.audit", 0o644, "chmod 600"},
		{"ambit.db.inbox", 0o777, "chmod 700"},
	} {
		name := filepath.Join(dir, c.file)
		was, err := os.Stat(name)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(name, c.mode))
		if err = start(); c.refused == "" {
			assert.NoError(t, err, "%s %o", c.file, c.mode)
		} else {
			assert.ErrorContains(t, err, c.refused, "%s %o", c.file, c.mode)
			assert.ErrorContains(t, err, c.file)
		}
		require.NoError(t, os.Chmod(name, was.Mode().Perm()))
	}
	require.NoError(t, start())

	name := filepath.Join(dir, "ambit.db.tokens")
	file := tokens.Open(name)
	token, text, err := tokens.New("alice", nil)
	require.NoError(t, err)
	require.NoError(t, file.Add(t.Context(), token))
	require.NoError(t, os.Chmod(name, 0o606)) // while it is in use
	_, _, ok, err := file.Verify(text)
	require.ErrorContains(t, err, "chmod o-rwx")
	assert.False(t, ok)
	require.NoError(t, file.Revoke(t.Context(), token.Name))
}

// TestFilesAreForTheirOwnerWhateverTheUmaskIs: the umask is that of the process, and no other test runs meanwhile.
//
// SEMANTICS 6.15.2
func TestFilesAreForTheirOwnerWhateverTheUmaskIs(t *testing.T) {
	for _, mask := range []int{0, 0o277} {
		dir := t.TempDir()
		was := syscall.Umask(mask)
		h, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Report: func(error) {}})
		if err == nil {
			token, _, fault := tokens.New("alice", nil)
			err = errors.Join(fault, h.Tokens.Add(t.Context(), token))
		}
		syscall.Umask(was)
		require.NoError(t, err)
		for _, file := range []string{"ambit.db", "ambit.db-wal", "ambit.db-shm", "ambit.db.keys", "ambit.db.tokens"} {
			info, err := os.Stat(filepath.Join(dir, file))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
		}
		require.NoError(t, h.Close(t.Context()))
	}
}

// TestAStoreThatIsNoFile is refused, and nothing waits.
//
// SEMANTICS 6.15.2
func TestAStoreThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, folder, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.Symlink(pipe, link))
	for name, what := range map[string]string{pipe: "a pipe", folder: "a directory", link: "a pipe", os.DevNull: "a device"} {
		_, err := sqlite.Open(name)
		require.ErrorIs(t, err, sqlite.ErrNotStore)
		require.ErrorContains(t, err, what)
		_, err = sqlite.OpenReader(name)
		require.ErrorIs(t, err, sqlite.ErrNotStore)
	}
	for _, suffix := range []string{".keys", ".tokens", ".audit"} {
		own := t.TempDir()
		require.NoError(t, syscall.Mkfifo(filepath.Join(own, "ambit.db"+suffix), 0o600))
		_, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: own, Report: func(error) {}})
		require.ErrorContains(t, err, "a pipe", suffix)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.lock"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing was made")
}
