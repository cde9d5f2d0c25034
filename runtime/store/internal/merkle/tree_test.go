package merkle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

// TestTreeIsThatOfRFC6962 compares every root with that of package tlog.
func TestTreeIsThatOfRFC6962(t *testing.T) {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for i, x := range at {
			out[i] = stored[x]
		}
		return out, nil
	})
	var own Tree
	var h Hasher
	for n := range int64(1000) {
		want, err := tlog.TreeHash(n, read)
		require.NoError(t, err)
		require.Equal(t, want, own.Root(), "%d leaves", n)
		require.Len(t, own.Peaks, PeaksOf(uint64(n)))
		leaf := []byte(fmt.Sprint("leaf ", n))
		hashes, err := tlog.StoredHashes(n, leaf, read)
		require.NoError(t, err)
		stored = append(stored, hashes...)
		require.Equal(t, tlog.RecordHash(leaf), h.Leaf(leaf))
		own.Add(h.Leaf(leaf))
	}
}

func TestHasherLetsGoOfWhatIsLarge(t *testing.T) {
	var h Hasher
	large := make([]byte, 2*maxHashBuffer)
	assert.Equal(t, tlog.RecordHash(large), h.Leaf(large))
	h.Leaf(nil)
	assert.Less(t, cap(h.buf), maxHashBuffer)
}
