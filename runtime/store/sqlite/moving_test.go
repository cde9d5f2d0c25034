package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// grows appends n entries at once.
func grows(t *testing.T, s *Store, n int) {
	t.Helper()
	head := s.Health().Head
	list := make([]journal.Entry, n)
	for i := range list {
		list[i] = journal.Entry{Seq: head + uint64(i) + 1, Kind: "k", Session: "s", Leaf: bytes.Repeat([]byte{'x'}, 20)}
	}
	require.NoError(t, s.Append(t.Context(), list))
}

// TestAStoreThatGrowsIsAuthentic: a reader verifies up to the last entry that there was when it began, however much
// is appended meanwhile.
//
// SEMANTICS 6.15.1
func TestAStoreThatGrowsIsAuthentic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	grows(t, s, 10)
	r, err := OpenReader(path, WithKeys(path+".keys"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, r.Close()) }()
	at := standing{last: 10}
	grows(t, s, 2*followed) // a piece ends within it
	require.NoError(t, r.follow(t.Context(), 0, &at))
	assert.EqualValues(t, 10, at.last)
	assert.Len(t, at.since, 10)

	half := standing{last: 11}
	require.ErrorContains(t, r.follow(t.Context(), 0, &half), "the journal ends within a transaction")

	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := range 40 {
			grows(t, s, 1+i%7*400)
		}
	}()
	for over := false; !over; {
		select {
		case <-written:
			over = true
		default:
		}
		head := s.Health().Head
		n, err := r.Authenticate(t.Context())
		require.NoError(t, err)
		assert.GreaterOrEqual(t, n, head)
		require.NoError(t, r.VerifySessions(t.Context()))
	}
}

// TestAStoreThatIsArchivedIsLookedAtAgain: what a check does not find may be in a segment by now.
//
// SEMANTICS 6.15.1
func TestAStoreThatIsArchivedIsLookedAtAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	grows(t, s, 10)
	grows(t, s, 10)
	for _, size := range []uint64{10, 20} {
		require.NoError(t, s.SaveCheckpoint(t.Context(), size, []byte("note")))
	}
	r, err := OpenReader(path, WithKeys(path+".keys"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, r.Close()) }()
	missing, looks := errors.New("missing"), 0
	require.NoError(t, r.steady(t.Context(), func() error {
		if looks++; looks > 1 {
			return nil
		}
		require.NoError(t, s.Archive(t.Context(), journal.Segment{First: 1, Last: 10, File: "1.segment"}))
		return missing
	}))
	assert.Equal(t, 2, looks)
	require.ErrorIs(t, r.steady(t.Context(), func() error {
		looks++
		return missing
	}), missing)
	assert.Equal(t, 3, looks, "nothing has moved")
	n, err := r.Authenticate(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 20, n)
}

// TestAForeignWriteLockIsAStall: another program holds the lock of SQLite and writes nothing. Each kind of change says
// that nothing of it is there, and is made when the lock is gone.
//
// SEMANTICS 6.6.10
func TestAForeignWriteLockIsAStall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	grows(t, s, 1)
	_, err = s.w.c.exec("PRAGMA busy_timeout = 1")
	require.NoError(t, err)
	foreign, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, foreign.Close()) }()
	conn, err := foreign.Conn(t.Context())
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)

	some := func(n int, private []byte) []journal.Entry {
		list := make([]journal.Entry, n)
		for i := range list {
			list[i] = journal.Entry{Seq: uint64(i + 2), Kind: "k", Session: "s", Leaf: []byte("{}"), Private: private}
		}
		return list
	}
	changes := map[string]func() error{
		"one entry":       func() error { return s.Append(t.Context(), some(1, nil)) },
		"many":            func() error { return s.Append(t.Context(), some(50, nil)) },
		"private":         func() error { return s.Append(t.Context(), some(1, []byte("p"))) },
		"the heartbeat":   func() error { return s.Renew(t.Context()) },
		"a value":         func() error { return s.Apply(t.Context(), []journal.Write{{Key: "a", Value: []byte("1")}}) },
		"a checkpoint":    func() error { return s.SaveCheckpoint(t.Context(), 1, []byte("note")) },
		"the calls index": func() error { return s.Append(t.Context(), some(2*indexEvery, nil)) },
	}
	for name, change := range changes {
		require.ErrorIs(t, change(), journal.ErrUnavailable, name)
	}
	var wg sync.WaitGroup // some of them together
	for range 3 {
		for name, change := range changes {
			wg.Go(func() { assert.ErrorIs(t, change(), journal.ErrUnavailable, name) })
		}
	}
	wg.Wait()
	assert.NoError(t, s.Health().Lost)
	value, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.Nil(t, value)
	assert.EqualValues(t, 1, s.Health().Head)

	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	for _, name := range []string{"many", "the heartbeat", "a value", "a checkpoint"} {
		require.NoError(t, changes[name](), name)
	}
	assert.EqualValues(t, 51, s.Health().Head)
	require.NoError(t, s.Close())
	n, err := VerifyCopy(t.Context(), path)
	require.NoError(t, err)
	assert.EqualValues(t, 51, n)
}
