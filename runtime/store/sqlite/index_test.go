package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestAnIndexIsNotBelieved puts entries of another call, and of the same call of another session, into the
// index of a call.
func TestAnIndexIsNotBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	var list []journal.Entry
	for seq := uint64(1); seq <= indexEvery+72; seq++ {
		list = append(list, journal.Entry{Seq: seq, Kind: "k", Session: fmt.Sprint("s", seq%2), Call: fmt.Sprint("c", seq/2%2), Leaf: []byte(`{}`)})
	}
	require.NoError(t, s.Append(t.Context(), list))
	for seq, of := range map[uint64]string{5: "c0", 8: "c0", 7: "c1"} {
		key := journal.CallKey{Session: "s1", Call: of}
		before, err := s.Call(t.Context(), key)
		require.NoError(t, err)
		require.NotEmpty(t, before)
		_, err = s.w.c.exec(fmt.Sprintf("UPDATE call SET entries = '%d,' || entries WHERE session = 's1' AND call = '%s'", seq, of))
		require.NoError(t, err)
		_, err = s.Call(t.Context(), key)
		if list[seq-1].Session == "s1" && list[seq-1].Call == of {
			require.NoError(t, err, "entry %d is one of it already", seq)
			continue
		}
		var wrong *IndexError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, seq, wrong.Seq)
		require.ErrorIs(t, err, ErrForged)
		_, err = s.w.c.exec(fmt.Sprintf("UPDATE call SET entries = substr(entries, %d) WHERE session = 's1' AND call = '%s'", len(fmt.Sprint(seq))+2, of))
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
}

// TestIndexOfRequestsComesWithItsEntries ends the power after each write of an append: the store has the entry and
// its request, or neither.
func TestIndexOfRequestsComesWithItsEntries(t *testing.T) {
	leaf := []byte(`{"consent":[{"kind":"reminded","request":"q"}]}`)
	entry := func(seq uint64) []journal.Entry {
		return []journal.Entry{{Seq: seq, Kind: "k", Session: "s", Leaf: leaf}}
	}
	both := 0
	for n := 1; n < 40; n++ {
		disk, err := simdisk.New(1)
		require.NoError(t, err)
		s, err := Open("/store", WithDisk(disk))
		require.NoError(t, err)
		require.NoError(t, s.Append(t.Context(), entry(1)))
		disk.Inject(simdisk.PowerCut, n)
		_ = s.Append(t.Context(), entry(2))
		disk.Crash()
		_ = s.Close()
		s, err = Open("/store", WithDisk(disk))
		require.NoError(t, err)
		head, err := s.Head(t.Context())
		require.NoError(t, err)
		list, err := s.Requests(t.Context(), journal.RequestFilter{})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Len(t, list[0].Steps, int(head), "after %d operations", n)
		if head == 2 {
			both++
		}
		require.NoError(t, s.Close())
	}
	require.Positive(t, both)
}
