package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

var onPurpose = sqlite.Restoration{By: "root", Reason: "the disk was lost"}

// TestRestore continues an older copy of a store on purpose.
func TestRestore(t *testing.T) {
	path, old := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "old")
	s := open(t, path)
	fill(t, s, 1, 5)
	copyStore(t, path, old)
	s = open(t, path)
	epoch := s.Epoch()
	fill(t, s, 6, 9)
	keys, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)

	copyStore(t, old, path)
	require.NoError(t, os.WriteFile(path+".keys", keys, 0o600))
	err = refused(t, path)
	require.ErrorIs(t, err, sqlite.ErrRolledBack)
	require.True(t, sqlite.RolledBack(err))
	require.ErrorContains(t, err, "ambit audit restored --store "+path)
	_, _, err = sqlite.Restore(path, sqlite.Restoration{})
	require.ErrorContains(t, err, "the reason is missing")
	_, _, err = sqlite.Begin(path, onPurpose)
	require.ErrorContains(t, err, "it is there")

	s, record, err := sqlite.Restore(path, onPurpose)
	require.NoError(t, err)
	require.Equal(t, &journal.Restored{Kept: 5, Had: 9, Reason: "the disk was lost"}, record)
	require.Greater(t, s.Epoch(), epoch, "the fence never goes back")
	require.NoError(t, s.Close())
	s = open(t, path)
	list, err := s.Read(t.Context(), 5, 9)
	require.NoError(t, err)
	require.Len(t, list, 1)
	r, err := journal.Decode(list[0].Leaf)
	require.NoError(t, err)
	require.Equal(t, journal.KindRestored, r.Kind)
	require.Equal(t, "root", r.By)
	require.Equal(t, record, r.Restored)
	require.NoError(t, s.Close())
	givenUp(t, path, old, keys)
}

// hasEnded wants what was given up by a restore not to come back: not before the head,
// nor after it. The keys are those of before.
func givenUp(t *testing.T, path, old string, keys []byte) {
	newer, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)
	for _, from := range []string{old, path} {
		at := filepath.Join(t.TempDir(), "store")
		copyStore(t, from, at)
		if from == path {
			fill(t, open(t, at), 7, 9) // of the same size as before, and another one
			require.NoError(t, os.WriteFile(at+".keys", keys, 0o600))
		} else {
			require.NoError(t, os.WriteFile(at+".keys", newer, 0o600))
		}
		require.True(t, sqlite.RolledBack(refused(t, at)), from)
	}
}

// fill appends entries, and closes the store.
func fill(t *testing.T, s *sqlite.Store, from, to uint64) {
	for seq := from; seq <= to; seq++ {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(seq, 10)}))
	}
	require.NoError(t, s.Close())
}

// TestRestoreVerifiesAll refuses to continue a copy with an entry that is not authentic.
func TestRestoreVerifiesAll(t *testing.T) {
	older, closed := written(t)
	keys, err := os.ReadFile(closed + ".keys")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(older+".keys", keys, 0o600))
	change(t, older, "UPDATE entry SET kind = 'x' WHERE seq = 2")
	require.ErrorIs(t, refused(t, older), sqlite.ErrRolledBack)
	_, _, err = sqlite.Restore(older, onPurpose)
	require.ErrorIs(t, err, sqlite.ErrForged)
	require.ErrorIs(t, refused(t, older), sqlite.ErrRolledBack, "nothing was changed")

	change(t, closed, "DELETE FROM entry WHERE seq > 10")
	_, _, err = sqlite.Restore(closed, onPurpose)
	require.ErrorIs(t, err, sqlite.ErrForged, "a store that was cut is no copy of it: the tree of its sessions covers more")
}

// TestBegin makes a new store in the place of one that is gone.
func TestBegin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10), entry(2, 10)}))
	epoch := s.Epoch()
	require.NoError(t, s.Close())
	old := filepath.Join(t.TempDir(), "old")
	copyStore(t, path, old)
	require.NoError(t, os.Remove(path))
	_, _, err := sqlite.Restore(path, onPurpose)
	require.ErrorIs(t, err, sqlite.ErrRolledBack)
	s, record, err := sqlite.Begin(path, sqlite.Restoration{By: "root", Reason: "moved", At: time.Unix(5, 0)})
	require.NoError(t, err)
	require.Equal(t, &journal.Restored{Had: 2, Reason: "moved"}, record)
	require.Greater(t, s.Epoch(), epoch)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(2, 10)}))
	require.NoError(t, s.Close())
	require.NoError(t, start(t, path))

	keys, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(old+".keys", keys, 0o600))
	require.Error(t, start(t, old), "the former store is not this one")
}

func TestOwned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	owned := func() bool {
		owned, err := openReader(t, path).Owned(t.Context())
		require.NoError(t, err)
		return owned
	}
	require.True(t, owned())
	for _, beat := range []time.Duration{-2 * time.Minute, 2 * time.Minute} {
		change(t, path, "UPDATE owner SET beat = ?", time.Now().Add(beat).UnixNano())
		require.False(t, owned(), beat)
	}
	require.NoError(t, s.Renew(t.Context()))
	require.True(t, owned())
	require.NoError(t, s.Close())
	require.False(t, owned())
}
