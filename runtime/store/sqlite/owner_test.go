package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

func TestSecondOwnerIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	first := open(t, path)
	_, err := sqlite.Open(path)
	require.ErrorIs(t, err, sqlite.ErrOwned)
	host, _ := os.Hostname()
	assert.ErrorContains(t, err, fmt.Sprintf("process %d on host %s", os.Getpid(), host))
	_, err = sqlite.Open(path, sqlite.WithWait(time.Millisecond))
	require.ErrorIs(t, err, sqlite.ErrOwned)

	opened := make(chan *sqlite.Store)
	go func() {
		s, err := sqlite.Open(path, sqlite.WithWait(time.Hour))
		assert.NoError(t, err)
		opened <- s
	}()
	require.NoError(t, first.Append(t.Context(), []journal.Entry{entry(1, 1)}))
	require.NoError(t, first.Close())
	second := <-opened
	require.NoError(t, second.Append(t.Context(), []journal.Entry{entry(2, 1)}))
	assert.Equal(t, first.Epoch()+1, second.Epoch())
	require.NoError(t, second.Close())
}

// other is a connection that does not observe the ownership of the store.
func other(t testing.TB, path string) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestWhoLostTheStoreWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 1)}))
	require.NoError(t, s.Renew(t.Context()))
	_, err := other(t, path).Exec("UPDATE owner SET epoch = epoch + 1")
	require.NoError(t, err)
	for range 2 {
		require.ErrorIs(t, s.Append(t.Context(), []journal.Entry{entry(2, 1)}), journal.ErrLost)
		require.ErrorIs(t, s.Renew(t.Context()), journal.ErrLost)
		require.ErrorIs(t, s.Apply(t.Context(), []sqlite.Write{{Key: "k", Value: []byte("v")}}), journal.ErrLost)
		require.ErrorIs(t, s.SaveCheckpoint(t.Context(), 1, []byte("n")), journal.ErrLost)
	}
	require.ErrorIs(t, s.Health().Lost, journal.ErrLost)
	list, err := s.Read(t.Context(), 0, 9)
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

func TestBeatFindsThatTheStoreIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	_, err := other(t, path).Exec("UPDATE owner SET epoch = epoch + 1")
	require.NoError(t, err)
	require.ErrorIs(t, s.Renew(t.Context()), journal.ErrLost)
}

// TestHealthNamesTheOwner: this process, and the one that has taken over from it.
func TestHealthNamesTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	began := time.Now()
	s := open(t, path)
	host, _ := os.Hostname()
	o := s.Health().Owner
	assert.Equal(t, sqlite.Owner{Epoch: s.Epoch(), PID: os.Getpid(), Host: host, Since: o.Since, Beat: o.Beat}, o)
	assert.False(t, o.Since.Before(began))
	require.NoError(t, s.Renew(t.Context()))
	renewed := s.Health().Owner
	assert.True(t, renewed.Beat.After(o.Beat))
	assert.Equal(t, o.Since, renewed.Since)
	_, err := other(t, path).Exec("UPDATE owner SET epoch = epoch + 1, pid = 7, host = 'elsewhere', since = 1, beat = 2")
	require.NoError(t, err)
	assert.Equal(t, sqlite.Owner{Epoch: s.Epoch() + 1, PID: 7, Host: "elsewhere", Since: time.Unix(0, 1), Beat: time.Unix(0, 2)}, s.Health().Owner)
	require.ErrorIs(t, s.Close(), journal.ErrLost)
	assert.Zero(t, s.Health().Owner)
}

func TestClosedStore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Append(t.Context(), []journal.Entry{entry(1, 1)}), journal.ErrClosed)
	_, err := s.Read(t.Context(), 0, 1)
	require.ErrorIs(t, err, journal.ErrClosed)
	require.ErrorIs(t, s.Health().Lost, journal.ErrClosed)
}

func TestEntriesAreNeverChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 1)}))
	for q, why := range map[string]string{"UPDATE entry SET kind = 'x'": "entries are never changed", "DELETE FROM entry": "entries are deleted only when they are archived"} {
		_, err := other(t, path).Exec(q)
		require.ErrorContains(t, err, why, q)
	}
}

// TestWritesOfManyKinds writes from many goroutines: a write that is refused fails no
// other write of the same transaction.
func TestWritesOfManyKinds(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	var wg sync.WaitGroup
	const n = 40
	for i := range 8 {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(uint64(i+1), 1)}))
	}
	for w := range 8 {
		wg.Go(func() {
			for i := range n {
				assert.NoError(t, s.Apply(t.Context(), []sqlite.Write{{Key: fmt.Sprint(w), Value: fmt.Append(nil, i)}}))
				assert.NoError(t, s.SaveCheckpoint(t.Context(), uint64(w), fmt.Append(nil, i)))
			}
		})
	}
	wg.Go(func() {
		for range n {
			assert.ErrorIs(t, s.Append(t.Context(), []journal.Entry{entry(1<<40, 1)}), journal.ErrConflict)
		}
	})
	for i := 8; i < n; i++ {
		assert.NoError(t, s.Append(t.Context(), []journal.Entry{entry(uint64(i+1), 1)}))
	}
	wg.Wait()
	for w := range 8 {
		value, err := s.Get(t.Context(), fmt.Sprint(w))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(n-1), string(value))
	}
	points, err := s.Checkpoints(t.Context())
	require.NoError(t, err)
	require.Len(t, points, 8)
	assert.Equal(t, journal.SignedCheckpoint{Size: 7, Note: fmt.Append(nil, n-1)}, points[7])
	assert.Equal(t, uint64(n), s.Health().Head)
	require.NoError(t, s.Check(t.Context()))
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	get := func(key string) []byte {
		value, err := s.Get(t.Context(), key)
		require.NoError(t, err)
		return value
	}
	assert.Nil(t, get("a"))
	require.NoError(t, s.Apply(t.Context(), []sqlite.Write{{Key: "a", Value: []byte("1")}, {Key: "b", Value: []byte{}}, {Key: "a", Value: []byte("2")}}))
	require.NoError(t, s.Close())
	s = open(t, path)
	assert.Equal(t, []byte("2"), get("a"))
	assert.Equal(t, []byte{}, get("b"))
	require.NoError(t, s.Apply(t.Context(), []sqlite.Write{{Key: "a"}, {Key: "c"}}))
	assert.Nil(t, get("a"))
}

func TestWriteAheadLogStaysSmall(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	for i := range 200 {
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(uint64(i+1), 100_000)}))
	}
	h := s.Health()
	assert.Less(t, h.WALFrames, int64(2000))
	assert.Zero(t, h.Unmoved)
	assert.NoError(t, h.Lost)
}

// TestNames opens stores whose names mean something to SQLite, and finds one by
// all of its names.
// SEMANTICS 7.5.3
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "a?mode=memory", "a#b", "a%41", "ä'\"", "file:x"} {
		path := filepath.Join(dir, name)
		require.NoError(t, open(t, path).Append(t.Context(), []journal.Entry{entry(1, 1)}))
		require.FileExists(t, path)
	}
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(filepath.Join(dir, "a b"), link))
	_, err := sqlite.Open(link)
	require.ErrorIs(t, err, sqlite.ErrOwned)

	t.Chdir(dir)
	s := open(t, "relative")
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 1)}))
	t.Chdir(t.TempDir())
	list, err := s.Read(t.Context(), 0, 1)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// TestVirtualTime uses a store inside a bubble of virtual time: nothing in it
// waits for the clock.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "store"))
		require.NoError(t, err)
		before := time.Now()
		require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 1)}))
		list, err := s.Read(t.Context(), 0, 1)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.NoError(t, s.Close())
		require.Equal(t, before, time.Now())
	})
}
