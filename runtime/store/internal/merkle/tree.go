// Package merkle computes the roots of Merkle logs (RFC 6962) leaf by leaf. It keeps of a log what has
// to be known to add leaves and to say its root.
package merkle

import (
	"crypto/sha256"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// A Tree is what has to be known of a Merkle log to add leaves to it and to say its root: the roots of
// its complete subtrees, the largest first. A log of n leaves has as many as n has bits that are 1.
// The zero Tree is that of the empty log.
type Tree struct {
	Size  uint64
	Peaks []tlog.Hash
}

// Add adds a leaf by its hash.
func (t *Tree) Add(h tlog.Hash) {
	n := len(t.Peaks)
	for i := t.Size; i&1 == 1; i >>= 1 {
		n--
		h = tlog.NodeHash(t.Peaks[n], h)
	}
	t.Peaks = append(t.Peaks[:n], h)
	t.Size++
}

// Root returns the root of the tree.
func (t *Tree) Root() tlog.Hash {
	if t.Size == 0 {
		return sha256.Sum256(nil)
	}
	h := t.Peaks[len(t.Peaks)-1]
	for _, p := range slices.Backward(t.Peaks[:len(t.Peaks)-1]) {
		h = tlog.NodeHash(p, h)
	}
	return h
}

// Clone returns a tree that shares nothing with t.
func (t *Tree) Clone() Tree { return Tree{t.Size, slices.Clone(t.Peaks)} }

// PeaksOf returns how many peaks a tree of a size has.
func PeaksOf(size uint64) int { return bits.OnesCount64(size) }

// A Hasher hashes leaves. It keeps a buffer; one goroutine at a time uses it.
type Hasher struct{ buf []byte }

// Leaf returns the hash of a leaf as RFC 6962 says: of a zero byte and the leaf.
func (h *Hasher) Leaf(leaf []byte) tlog.Hash {
	if cap(h.buf) > maxHashBuffer {
		h.buf = nil // an unusual leaf must not be paid for ever after
	}
	h.buf = append(append(h.buf[:0], 0), leaf...)
	return sha256.Sum256(h.buf)
}

// maxHashBuffer is how large a buffer a Hasher keeps.
const maxHashBuffer = 1 << 20
