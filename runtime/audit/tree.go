package audit

import (
	"crypto/sha256"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// A tree is what has to be known of a Merkle log (RFC 6962) to add leaves to it
// and to say its root: the roots of its complete subtrees, the largest first. A
// log of n leaves has as many as n has bits that are 1.
type tree struct {
	size  uint64
	peaks []tlog.Hash
}

// add adds a leaf by its hash.
func (t *tree) add(h tlog.Hash) {
	n := len(t.peaks)
	for i := t.size; i&1 == 1; i >>= 1 {
		n--
		h = tlog.NodeHash(t.peaks[n], h)
	}
	t.peaks = append(t.peaks[:n], h)
	t.size++
}

// root returns the root of the tree.
func (t *tree) root() tlog.Hash {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	h := t.peaks[len(t.peaks)-1]
	for _, p := range slices.Backward(t.peaks[:len(t.peaks)-1]) {
		h = tlog.NodeHash(p, h)
	}
	return h
}

// clone returns a tree that shares nothing with t.
func (t *tree) clone() tree { return tree{t.size, slices.Clone(t.peaks)} }

// peaksOf returns how many peaks a tree has.
func peaksOf(size uint64) int { return bits.OnesCount64(size) }

// A hasher hashes leaves. It keeps a buffer; one goroutine at a time uses it.
type hasher struct{ buf []byte }

// LeafHash returns the hash of a leaf in the tree of a log, which Export writes.
func LeafHash(leaf []byte) [sha256.Size]byte { return new(hasher).leaf(leaf) }

// leaf returns the hash of a leaf as RFC 6962 says: of a zero byte and the leaf.
func (h *hasher) leaf(leaf []byte) tlog.Hash {
	if cap(h.buf) > maxHashBuffer {
		h.buf = nil // an unusual leaf must not be paid for ever after
	}
	h.buf = append(append(h.buf[:0], 0), leaf...)
	return sha256.Sum256(h.buf)
}

// maxHashBuffer is how large a buffer a hasher keeps.
const maxHashBuffer = 1 << 20
