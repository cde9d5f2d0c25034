package sqlite_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestStoreThatIsNotWhereItWas moves, removes and replaces the files of a store
// while it is written: nothing is acknowledged any more, and no new store is begun
// in its place.
func TestStoreThatIsNotWhereItWas(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be moved")
	}
	rename := func(t *testing.T, from, to string) { require.NoError(t, os.Rename(from, to)) }
	replace := func(t *testing.T, path string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path+".new", text, 0o600))
		rename(t, path+".new", path)
	}
	for name, move := range map[string]func(t *testing.T, path string){
		"moved":        func(t *testing.T, path string) { rename(t, path, path+".away") },
		"removed":      func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"replaced":     replace,
		"log removed":  func(t *testing.T, path string) { require.NoError(t, os.Remove(path+"-wal")) },
		"log replaced": func(t *testing.T, path string) { replace(t, path+"-wal") },
		"folder moved": func(t *testing.T, path string) { rename(t, filepath.Dir(path), filepath.Dir(path)+".away") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "folder", "store")
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
			s, err := sqlite.Open(path)
			require.NoError(t, err)
			require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10)}))
			move(t, path)
			for range 2 {
				err = s.Append(t.Context(), []journal.Entry{entry(2, 10)})
				require.ErrorIs(t, err, journal.ErrLost)
				require.ErrorContains(t, err, "was moved, removed or replaced while it was written")
				require.ErrorIs(t, s.Renew(t.Context()), journal.ErrLost)
				require.ErrorIs(t, s.Apply(t.Context(), []sqlite.Write{{Key: "k", Value: []byte("v")}}), journal.ErrLost)
			}
			_ = s.Close()
			if name == "moved" || name == "removed" {
				_, err = sqlite.Open(path)
				require.Error(t, err)
				require.NoFileExists(t, path)
			}
		})
	}
}

// TestNoNewStoreInThePlaceOfOne removes a store, and wants its keys file to say that
// there was one.
func TestNoNewStoreInThePlaceOfOne(t *testing.T) {
	for name, gone := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"no tables": func(path string) error {
			db := other(t, path+".new")
			if _, err := db.Exec("PRAGMA application_id = 0x416d6274; CREATE TABLE x (a); DROP TABLE x"); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			require.NoError(t, open(t, path).Close()) // without entries: it existed all the same
			require.NoError(t, gone(path))
			for range 2 {
				_, err := sqlite.Open(path)
				require.ErrorIs(t, err, sqlite.ErrRolledBack)
				require.ErrorContains(t, err, "ambit audit begin --store "+path)
			}
			if name == "removed" {
				require.NoFileExists(t, path)
			}
		})
	}
}

// TestInterruptedBeginning leaves what a crash leaves that comes before a store was
// made to its end.
func TestInterruptedBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	_, err := sqlite.Open(filepath.Join(path, "nowhere"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(path, 0o700)) // which cannot become a file
	_, err = sqlite.Open(path)
	require.Error(t, err)
	require.NoError(t, os.Remove(path))
	s := open(t, path)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10)}))
}

// TestHeadFollows wants the head within the second, at a checkpoint and at the end.
func TestHeadFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	var due []func()
	s := open(t, path, sqlite.WithAfterFunc(func(d time.Duration, f func()) func() bool {
		assert.Equal(t, time.Second, d)
		due = append(due, f)
		return func() bool { return true }
	}))
	text := func() string {
		b, err := os.ReadFile(path + ".keys")
		require.NoError(t, err)
		return string(b)
	}
	for i := range uint64(3) {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(i+1, 10)}))
	}
	require.Len(t, due, 1, "one timer for all of them")
	assert.Contains(t, text(), `"size": 0`)
	due[0]()
	assert.Contains(t, text(), `"size": 3`)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(4, 10)}))
	require.Len(t, due, 2)
	require.NoError(t, s.SaveCheckpoint(t.Context(), 2, []byte("n")))
	assert.Contains(t, text(), `"size": 4`)
	due[1]()
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(5, 10)}))
	require.NoError(t, s.Close())
	assert.Contains(t, text(), `"size": 5`)
	require.Len(t, due, 3)
	due[2]() // too late: it writes nothing
	assert.Contains(t, text(), `"size": 5`)
}

// TestHeadThatCannotBeWritten holds changes up until the head can be written.
func TestHeadThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 && runtime.GOOS == "linux" {
		t.Log("root writes everywhere: a directory is in the way of the file instead")
	}
	path := filepath.Join(t.TempDir(), "store")
	var due func()
	s := open(t, path, sqlite.WithAfterFunc(func(_ time.Duration, f func()) func() bool {
		due = f
		return func() bool { return true }
	}))
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10)}))
	require.NoError(t, os.Rename(path+".keys", path+".away"))
	require.NoError(t, os.MkdirAll(path+".keys/in the way", 0o700))
	due()
	for range 2 {
		require.ErrorIs(t, s.Append(t.Context(), []journal.Entry{entry(2, 10)}), journal.ErrUnavailable)
		require.ErrorIs(t, s.Renew(t.Context()), journal.ErrUnavailable)
	}
	require.NoError(t, os.RemoveAll(path+".keys"))
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(2, 10)}))
	require.FileExists(t, path+".keys")
}

// TestKeysFileKeepsItsMode: a group that may give commands can read it.
func TestKeysFileKeepsItsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	require.NoError(t, os.Chmod(path+".keys", 0o640))
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10)}))
	require.NoError(t, s.Close())
	info, err := os.Stat(path + ".keys")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	left, err := filepath.Glob(path + ".keys.*")
	require.NoError(t, err)
	assert.Empty(t, left)
}
