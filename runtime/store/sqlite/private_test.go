package sqlite_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// contains says whether any file in the directory of a store has the text.
func contains(t *testing.T, path, text string) bool {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

func TestErase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	secret := func(seq uint64, session, value string) journal.Entry {
		e := entry(seq, 10)
		e.Session, e.Private = session, []byte(value)
		return e
	}
	require.NoError(t, s.Append(t.Context(), []journal.Entry{
		secret(1, "a", "first secret"), secret(2, "a", "second secret"), secret(3, "b", "third secret"), secret(4, "b", "fourth secret"),
	}))
	require.NoError(t, s.Erase(t.Context(), 1))
	assert.False(t, contains(t, path, "first secret"))
	assert.True(t, contains(t, path, "second secret"))
	require.NoError(t, s.EraseSession(t.Context(), "b"))
	assert.False(t, contains(t, path, "third secret"))
	assert.False(t, contains(t, path, "fourth secret"))
	require.NoError(t, s.Erase(t.Context(), 1)) // again
	list, err := s.Read(t.Context(), 0, 9)
	require.NoError(t, err)
	require.Len(t, list, 4)
	assert.Nil(t, list[0].Private)
	assert.Equal(t, "second secret", string(list[1].Private))
	assert.Nil(t, list[3].Private)
	assert.Equal(t, entry(1, 10).Leaf, list[0].Leaf)
}

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	key := func(name string) []byte {
		k, err := s.Key(t.Context(), name)
		require.NoError(t, err)
		require.Len(t, k, 32)
		return k
	}
	a, b := key("a"), key("b")
	assert.NotEqual(t, a, b)
	assert.Equal(t, a, key("a"))
	require.NoError(t, s.Close())
	info, err := os.Stat(path + ".keys")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	s = open(t, path)
	assert.Equal(t, b, key("b"))
	assert.Equal(t, a, key("a"))
	assert.False(t, contains(t, path, string(a)))
	require.NoError(t, s.Close())

	text, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)
	for name, damage := range map[string]string{
		"empty": "", "cut": "{", "former": `{"a":"` + strings.Repeat("A", 43) + `="}`, "more": string(text) + "{}",
		"unknown member": strings.Replace(string(text), `"version"`, `"x": 1, "version"`, 1),
		"version":        strings.Replace(string(text), `"version": 2`, `"version": 3`, 1),
		"head":           strings.Replace(string(text), `"epoch": 2`, `"epoch": 3`, 1),
		"id":             strings.Replace(string(text), `"store": "`, `"store": "00`, 1),
		"short key":      strings.Replace(string(text), `"a": "`, `"a": "AAAA", "x": "`, 1),
	} {
		require.NotEqual(t, string(text), damage, name)
		require.NoError(t, os.WriteFile(path+".keys", []byte(damage), 0o600))
		err = refused(t, path)
		require.ErrorIs(t, err, sqlite.ErrKeys, name)
		require.ErrorContains(t, err, "restore that file", name)
	}
	require.NoError(t, os.Remove(path+".keys"))
	err = refused(t, path)
	require.ErrorIs(t, err, sqlite.ErrKeys)
	require.ErrorContains(t, err, "restore it")
}

// TestKeyThatIsGoneIsNotMadeAgain restores a keys file that is older than a key.
func TestKeyThatIsGoneIsNotMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	require.NoError(t, open(t, path).Close())
	text, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)
	s := open(t, path)
	_, err = s.Key(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, s.Close())

	require.NoError(t, os.WriteFile(path+".keys", text, 0o600))
	s = open(t, path)
	_, err = s.Key(t.Context(), "a")
	require.ErrorContains(t, err, "restore that file")
	_, err = s.Key(t.Context(), "c") // one that was never made
	require.NoError(t, err)
}

func TestReadersFindKeysThatWereMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	key, err := s.Key(t.Context(), "inbox")
	require.NoError(t, err)
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	require.Equal(t, s.Path(), r.Path())
	have, err := r.Key(t.Context(), "inbox")
	require.NoError(t, err)
	require.Equal(t, key, have)
	_, err = r.Key(t.Context(), "another")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
}

// SEMANTICS 5.10.4
func TestStoresAreForTheirOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10)}))
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	require.NoError(t, s.Close())
}
