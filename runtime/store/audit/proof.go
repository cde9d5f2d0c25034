package audit

import (
	"cmp"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A Proof is a stored checkpoint that the key of the log has signed, with the tree that it is of.
type Proof struct {
	Size  uint64
	Root  tlog.Hash
	Peaks []tlog.Hash // roots of the complete subtrees, the largest first: Root follows from them
	Note  []byte      // signed
}

// Proofs returns what the stored checkpoints of a log prove, by size, and how many entries an
// anchored note proves that has the size and the root of one of them. Checkpoints that prove nothing, or whose tree
// was not stored with them, are left out, and so is what a restore has given up. It reads no entry: that the
// entries lead to a root is for the caller to see.
func Proofs(list []Checkpoint, anchored [][]byte, v note.Verifier) (proofs []Proof, upTo uint64) {
	all, _ := targets(list, anchored, v)
	for i := range all {
		t := &all[i]
		if t.bad != nil || t.anchored {
			continue
		}
		if tree, _, ok := hints(t.stored); ok && tree.Root() == t.root {
			proofs = append(proofs, Proof{Size: t.size, Root: t.root, Peaks: tree.Peaks, Note: t.stored.Signed()})
		}
	}
	for i := range all {
		t := &all[i]
		at, found := slices.BinarySearchFunc(proofs, t.size, func(p Proof, size uint64) int { return cmp.Compare(p.Size, size) })
		if t.bad == nil && t.anchored && found && proofs[at].Root == t.root {
			upTo = max(upTo, t.size)
		}
	}
	return proofs, upTo
}
