package sqlite_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// refused requires that a file is refused, and not changed.
func refused(t *testing.T, path string) error {
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, refusal := sqlite.Open(path)
	require.Error(t, refusal)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "the file was changed")
	return refusal
}

func TestOtherFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"text": "hello", "long text": string(make([]byte, 5000))} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.ErrorIs(t, refused(t, path), sqlite.ErrNotStore)
		_, err := sqlite.OpenReader(path)
		require.ErrorIs(t, err, sqlite.ErrNotStore)
	}
	path := filepath.Join(dir, "database")
	_, err := other(t, path).Exec("CREATE TABLE t (a)")
	require.NoError(t, err)
	require.ErrorIs(t, refused(t, path), sqlite.ErrNotStore)
	require.ErrorContains(t, refused(t, path), "another program")

	path = filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	open(t, path)

	_, err = sqlite.Open(filepath.Join(dir, "no directory", "store"))
	require.Error(t, err)
}

func TestUnknownVersionIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	_, err := other(t, path).Exec("INSERT INTO migration VALUES (77, 'later', 0)")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	err = refused(t, path)
	require.ErrorIs(t, err, sqlite.ErrVersion)
	require.ErrorContains(t, err, "version 77 and this program knows 7")
	require.ErrorContains(t, err, "use a program that is at least as new")
	_, err = sqlite.OpenReader(path)
	require.ErrorIs(t, err, sqlite.ErrVersion)
}

// filled makes a store with n entries and returns the file.
func filled(t *testing.T, n int) string {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	list := make([]journal.Entry, n)
	for i := range list {
		list[i] = entry(uint64(i+1), 1000)
	}
	require.NoError(t, s.Append(t.Context(), list))
	require.NoError(t, s.Close())
	return path
}

// scribble turns the bits of a part of a file over. What is behind its end is zero.
func scribble(t *testing.T, path string, off int64, n int) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	part := make([]byte, n)
	if _, err = f.ReadAt(part, off); !errors.Is(err, io.EOF) {
		require.NoError(t, err)
	}
	for i := range part {
		part[i] = ^part[i]
	}
	_, err = f.WriteAt(part, off)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestDamageIsTold(t *testing.T) {
	const n, page = 600, 4096
	path := filled(t, n)
	info, err := os.Stat(path)
	require.NoError(t, err)
	scribble(t, path, info.Size()/2/page*page, page)

	var corrupt *sqlite.CorruptError
	require.ErrorAs(t, refused(t, path), &corrupt)
	assert.Equal(t, path, corrupt.Path)
	assert.Greater(t, corrupt.Readable, uint64(n/4))
	assert.Less(t, corrupt.Readable, uint64(n*3/4))
	assert.Equal(t, corrupt.Readable+1, corrupt.DamagedAt())

	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	var again *sqlite.CorruptError
	list, err := r.Read(t.Context(), 0, n)
	require.ErrorAs(t, err, &again)
	assert.Len(t, list, int(corrupt.Readable))
	assert.Equal(t, entry(again.Readable, 1000).Leaf, list[len(list)-1].Leaf)
	require.ErrorAs(t, r.Check(t.Context()), &again)
	assert.Equal(t, corrupt.Damaged, again.Damaged)
	require.NoError(t, r.Close())
}

func TestDamagedSchemaIsTold(t *testing.T) {
	path := filled(t, 10)
	scribble(t, path, 100, 3900)
	var corrupt *sqlite.CorruptError
	require.ErrorAs(t, refused(t, path), &corrupt)
	assert.Zero(t, corrupt.Readable)
}

func TestCutFileIsTold(t *testing.T) {
	path := filled(t, 200)
	require.NoError(t, os.Truncate(path, 40*4096))
	var corrupt *sqlite.CorruptError
	require.ErrorAs(t, refused(t, path), &corrupt)
	require.Less(t, corrupt.Readable, uint64(200))
}

func TestMissingEntryIsTold(t *testing.T) {
	path := filled(t, 20)
	db := other(t, path)
	_, err := db.Exec("DROP TRIGGER entry_is_not_deleted; DELETE FROM entry WHERE seq = 7")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	var corrupt *sqlite.CorruptError
	require.ErrorAs(t, refused(t, path), &corrupt)
	assert.Equal(t, uint64(6), corrupt.Readable)
	assert.Equal(t, uint64(7), corrupt.Damaged)
}
