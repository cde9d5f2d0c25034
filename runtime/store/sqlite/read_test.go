package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// anything is an entry of the call c that has all sizes and omissions there are.
func anything(r *rand.Rand, seq uint64) journal.Entry {
	e := journal.Entry{
		Seq: seq, Kind: fmt.Sprint("kind-", r.IntN(100)), Session: "s", Run: fmt.Sprint("run-", seq/9), Call: "c",
		Mark: journal.Mark(r.IntN(4)), Leaf: noise(1 + r.IntN(300)),
	}
	if r.IntN(3) > 0 {
		e.At = time.Unix(r.Int64N(2e9), r.Int64N(1e9)).UTC()
	}
	if r.IntN(3) > 0 {
		e.Tool = "Grüße"
	}
	if r.IntN(20) == 0 {
		e.Leaf = noise(1 + r.IntN(40_000))
	}
	switch r.IntN(9) {
	case 0:
		e.Private = []byte{}
	case 1, 2:
		e.Private = noise(1 + r.IntN(5_000))
	}
	return e
}

// TestReadSaysWhatWasAppended, for any page, and the same as Call does, which is
// another way through the file.
func TestReadSaysWhatWasAppended(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	s := open(t, filepath.Join(t.TempDir(), "store"))
	const n = 500
	want := make([]journal.Entry, n)
	for i := range want {
		want[i] = anything(r, uint64(i+1))
	}
	require.NoError(t, s.Append(t.Context(), want))
	list, err := s.Call(t.Context(), journal.CallKey{Session: "s", Call: "c"})
	require.NoError(t, err)
	require.Equal(t, want, list, seed)
	for range 50 {
		after, limit := r.IntN(n+2), 1+r.IntN(n)
		list, err := s.Read(t.Context(), uint64(after), limit)
		require.NoError(t, err)
		require.Len(t, list, max(0, min(limit, n-after)))
		for i := range list {
			require.Equal(t, want[after+i], list[i], seed)
		}
	}
}

// TestReadGivesAway changes every entry that it has read: neither the remaining entries
// nor what is read next may show it.
func TestReadGivesAway(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	s := open(t, filepath.Join(t.TempDir(), "store"))
	var want []journal.Entry
	for i := range 200 {
		want = append(want, anything(r, uint64(i+1)))
	}
	require.NoError(t, s.Append(t.Context(), want))
	for range 2 {
		list, err := s.Read(t.Context(), 0, 1000)
		require.NoError(t, err)
		for i := range list {
			require.Equal(t, want[i], list[i])
			clear(list[i].Leaf)
			clear(list[i].Private)
			_ = append(append(list[i].Leaf, "more"...), "of it"...)
			_ = append(list[i].Private, "more"...)
		}
	}
}

// TestReadIsOneLook reads while entries are appended that all have a private part.
func TestReadIsOneLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	r := openReader(t, path)
	const n = 300
	var wg sync.WaitGroup
	wg.Go(func() {
		for seq := uint64(1); seq <= n; seq++ {
			e := entry(seq, 10)
			e.Private = []byte("secret")
			if !assert.NoError(t, s.Append(t.Context(), []journal.Entry{e})) {
				return
			}
		}
	})
	defer wg.Wait()
	for have := 0; have < n; {
		list, err := r.Read(t.Context(), uint64(max(have-2, 0)), 1000)
		require.NoError(t, err)
		for _, e := range list {
			require.Equal(t, "secret", string(e.Private), e.Seq)
			have = max(have, int(e.Seq))
		}
	}
}

// TestReadEnds reads by more callers than there are connections, of which some
// give up and then the store is closed.
func TestReadEnds(t *testing.T) {
	path := filled(t, 3000)
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = r.Read(ended, 0, 10)
	require.ErrorIs(t, err, context.Canceled)
	list, err := r.Read(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, list, 10)

	ctx, cancel := context.WithCancel(t.Context())
	var first, wg sync.WaitGroup
	first.Add(20)
	for i := range 20 {
		wg.Go(func() {
			once := sync.OnceFunc(first.Done)
			defer once()
			for {
				list, err := r.Read(ctx, uint64(100*i), 1000)
				once()
				if err != nil {
					assert.Truef(t, errorsAre(err, context.Canceled, journal.ErrClosed), "%v", err)
					return
				}
				assert.Len(t, list, 1000)
				if i == 0 {
					cancel()
				}
			}
		})
	}
	first.Wait()
	require.NoError(t, r.Close())
	wg.Wait()
	cancel()
	_, err = r.Read(t.Context(), 0, 1)
	require.ErrorIs(t, err, journal.ErrClosed)
	require.NoError(t, r.Close())
}

// TestValueOfAnotherTypeIsDamage puts values into the table that SQLite would not.
func TestValueOfAnotherTypeIsDamage(t *testing.T) {
	for _, change := range []string{
		"kind = NULL", "call = NULL", "tool = 7", "session = x'00'", "at = 'now'", "mark = NULL", "mark = 300", "leaf = 'text'", "leaf = NULL",
	} {
		path := filled(t, 20)
		db := other(t, path)
		db.SetMaxOpenConns(1)
		_, err := db.Exec(`PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '') WHERE name = 'entry';
DELETE FROM sqlite_schema WHERE type = 'trigger'`)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		db = other(t, path)
		_, err = db.Exec("UPDATE entry SET " + change + " WHERE seq = 13")
		require.NoError(t, err)
		require.NoError(t, db.Close())
		var corrupt *sqlite.CorruptError
		list, err := openReader(t, path).Read(t.Context(), 3, 1000)
		if change == "tool = 7" { // becomes a text: the column is still one of text
			require.NoError(t, err)
			require.Equal(t, "7", list[9].Tool)
			continue
		}
		require.ErrorAs(t, err, &corrupt, change)
		assert.Equal(t, uint64(13), corrupt.DamagedAt(), change)
		assert.Len(t, list, 9, change)
		assert.True(t, bytes.Equal(entry(12, 1000).Leaf, list[8].Leaf))
	}
}

// errorsAre says whether an error is one of several.
func errorsAre(err error, others ...error) bool {
	return slices.ContainsFunc(others, func(other error) bool { return errors.Is(err, other) })
}
