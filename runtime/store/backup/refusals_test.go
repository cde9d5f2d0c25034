package backup_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestRestoreRefuses has a reason for each refusal, and leaves what is there as it is.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "ambit.db"), filepath.Join(dir, "backup")
	signer := used(t, path, 3)
	_, err := backup.Write(t.Context(), file, backup.Source{Store: path})
	require.NoError(t, err)
	other := filepath.Join(dir, "other", "ambit.db")
	require.NoError(t, os.Mkdir(filepath.Dir(other), 0o700))
	otherSigner := used(t, other, 1)

	try := func(file, path string, signer note.Signer) error {
		before := files(t, filepath.Dir(path))
		_, err := backup.Restore(t.Context(), file, path, backup.Target{Restoration: why(), Signer: signer})
		require.Error(t, err)
		assert.Equal(t, before, files(t, filepath.Dir(path)))
		return err
	}
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	assert.ErrorIs(t, try(file, path, signer), sqlite.ErrOwned)
	require.NoError(t, s.Close())
	assert.ErrorIs(t, try(file, path, signer), backup.ErrStore)
	require.NoError(t, os.Remove(other))
	err = try(file, other, signer)
	assert.ErrorIs(t, err, sqlite.ErrKeys)
	assert.ErrorContains(t, err, "are those of two stores")
	log := filepath.Join(dir, "log", "ambit.db")
	require.NoError(t, os.Mkdir(filepath.Dir(log), 0o700))
	require.NoError(t, os.WriteFile(log+"-wal", []byte("a log"), 0o600))
	require.NoError(t, os.WriteFile(log+".lock", nil, 0o600))
	assert.ErrorIs(t, try(file, log, signer), backup.ErrStore, "a log of another store would be applied")

	empty := filepath.Join(dir, "empty", "ambit.db")
	require.NoError(t, os.Mkdir(filepath.Dir(empty), 0o700))
	require.NoError(t, os.WriteFile(empty+".lock", nil, 0o600))
	assert.ErrorIs(t, try(file, empty, nil), backup.ErrSigner)
	assert.ErrorIs(t, try(file, empty, otherSigner), audit.ErrTampered)
	assert.ErrorIs(t, try(filepath.Join(dir, "none"), empty, signer), fs.ErrNotExist)
	_, err = backup.Restore(t.Context(), file, empty, backup.Target{Signer: signer})
	assert.ErrorContains(t, err, "the reason is missing")
}

// TestRestoreRefusesDamage has backups that were cut, and changed.
func TestRestoreRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "ambit.db"), filepath.Join(dir, "backup")
	signer := used(t, path, 3)
	_, err := backup.Write(t.Context(), file, backup.Source{Store: path})
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	empty := filepath.Join(dir, "empty", "ambit.db")
	try := func(file string) error {
		_, err := backup.Restore(t.Context(), file, empty, backup.Target{Restoration: why(), Signer: signer})
		assert.NoFileExists(t, empty)
		assert.NoDirExists(t, empty+".restoring")
		return err
	}
	bad := filepath.Join(dir, "bad")
	for _, n := range []int{0, 1, 511, 600, len(text) / 2, len(text) - 3000} {
		require.NoError(t, os.WriteFile(bad, text[:n], 0o600))
		assert.ErrorIs(t, try(bad), backup.ErrDamaged, "cut at %d", n)
	}
	verifier, err := os.ReadFile(path + ".audit.pub")
	require.NoError(t, err)
	changed := bytes.Replace(text, bytes.TrimSpace(verifier), bytes.ToLower(bytes.TrimSpace(verifier)), 1)
	require.NotEqual(t, text, changed)
	require.NoError(t, os.WriteFile(bad, changed, 0o600))
	assert.ErrorIs(t, try(bad), backup.ErrDamaged, "nothing else says what the verifier is")
	for at := 700; at < len(text)-2048; at += len(text) / 37 {
		changed := bytes.Clone(text)
		changed[at] ^= 1
		require.NoError(t, os.WriteFile(bad, changed, 0o600))
		// What is between the files means nothing; every other change is found.
		target := filepath.Join(dir, fmt.Sprint("changed", at), "ambit.db")
		if _, err := backup.Restore(t.Context(), bad, target, backup.Target{Restoration: why(), Signer: signer}); err == nil {
			assert.EqualValues(t, 3, restored(t, target, signer), "changed at %d", at)
		} else {
			assert.NoFileExists(t, target)
		}
	}
}

// TestRestoreWritesNoOtherFiles has archives that no backup is.
func TestRestoreWritesNoOtherFiles(t *testing.T) {
	for _, h := range []tar.Header{
		{Name: "../escaped", Typeflag: tar.TypeReg},
		{Name: "objects/../../escaped", Typeflag: tar.TypeReg},
		{Name: "/escaped", Typeflag: tar.TypeReg},
		{Name: "store", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "objects/" + strings.Repeat("A", 64), Typeflag: tar.TypeReg},
		{Name: "audit", Typeflag: tar.TypeReg},
		{Name: "objects", Typeflag: tar.TypeDir},
	} {
		t.Run(h.Name, func(t *testing.T) {
			dir := t.TempDir()
			var text bytes.Buffer
			w := tar.NewWriter(&text)
			require.NoError(t, w.WriteHeader(&h))
			require.NoError(t, w.Close())
			file := filepath.Join(dir, "backup")
			require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
			_, err := backup.Restore(t.Context(), file, filepath.Join(dir, "var", "ambit.db"), backup.Target{Restoration: why()})
			assert.ErrorIs(t, err, backup.ErrDamaged)
			assert.ErrorContains(t, err, "which no backup has")
			assert.NoFileExists(t, filepath.Join(dir, "escaped"))
		})
	}
}

// TestWriteRefuses has stores that cannot be backed up.
func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "ambit.db"), filepath.Join(dir, "backup")
	used(t, path, 3)
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	_, err := backup.Write(t.Context(), file, backup.Source{Store: path})
	assert.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, os.Remove(file))
	_, err = backup.Write(t.Context(), file, backup.Source{Store: path + ".none"})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Rename(path+".keys", path+".away"))
	_, err = backup.Write(t.Context(), file, backup.Source{Store: path})
	assert.ErrorIs(t, err, sqlite.ErrKeys)
	assert.NoFileExists(t, file)
	left, err := filepath.Glob(file + "*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestDamagedContentsAreLeftOut has a content that is not what its name says.
func TestDamagedContentsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "ambit.db"), filepath.Join(dir, "backup")
	used(t, path, 3)
	ref := content.RefOf([]byte("content 2"))
	require.NoError(t, os.WriteFile(filepath.Join(path+".objects", ref.SHA256[:2], ref.SHA256[2:]), []byte("cont"), 0o600))
	var said []error
	m, err := backup.Write(t.Context(), file, backup.Source{Store: path, Report: func(err error) { said = append(said, err) }})
	require.NoError(t, err)
	require.Len(t, said, 1)
	assert.ErrorIs(t, said[0], content.ErrCorrupt)
	for _, f := range m.Files {
		assert.NotContains(t, f.Name, ref.SHA256)
	}
	assert.Len(t, m.Files, 4+2, "store, keys, anchor, verifier, two contents")
}
