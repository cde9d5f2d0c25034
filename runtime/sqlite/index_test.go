package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestAnIndexIsNotBelieved puts entries of another call, and of the same call of another session, into the
// index of a call.
func TestAnIndexIsNotBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := Open(path)
	require.NoError(t, err)
	var list []journal.Entry
	for seq := uint64(1); seq <= 200; seq++ {
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
