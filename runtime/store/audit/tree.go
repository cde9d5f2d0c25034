package audit

import (
	"crypto/sha256"

	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

// tree and hasher are those of the Merkle log.
type (
	tree   = merkle.Tree
	hasher = merkle.Hasher
)

// LeafHash returns the hash of a leaf in the tree of a log, which Export writes.
func LeafHash(leaf []byte) [sha256.Size]byte { return new(hasher).Leaf(leaf) }
