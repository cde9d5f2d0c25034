package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A target is a size at which the root of the log is known, from a stored
// checkpoint or from an anchored note; or at which it should be.
type target struct {
	size     uint64
	root     tlog.Hash
	anchored bool
	bad      error      // the note says nothing
	stored   Checkpoint // if it is one; for its hints
}

// targets opens all notes and returns them by size, and of one size the stored
// ones first. Anchored notes about other logs are left out.
func targets(list []Checkpoint, anchored [][]byte, v note.Verifier) []target {
	out := make([]target, 0, len(list)+len(anchored))
	for _, c := range list {
		t := target{size: c.Size, stored: c}
		var size uint64
		if size, t.root, t.bad = open(c.Signed(), v); t.bad == nil && (size != c.Size || size == 0) {
			t.bad = fmt.Errorf("it is stored as that of %d entries, but is that of %d", c.Size, size)
		}
		out = append(out, t)
	}
	for _, signed := range anchored {
		t := target{anchored: true}
		t.size, t.root, t.bad = open(signed, v)
		if errors.Is(t.bad, errOrigin) || t.bad == nil && t.size == 0 {
			continue
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b target) int { return cmp.Compare(a.size, b.size) })
	return out
}

// maxClaim bounds how many leaf hashes are joined to find an entry exactly.
const maxClaim = 1 << 22

// claim joins the hints about the entries from a.size+1 to to. They are good only
// if they lead from the tree a to the root.
func claim(list []target, a *tree, to uint64, root tlog.Hash) ([]tlog.Hash, bool) {
	if to <= a.size || to-a.size > maxClaim {
		return nil, false
	}
	var all []tlog.Hash
	t := a.clone()
	for i := range list {
		c, at := &list[i], a.size+uint64(len(all))
		if at >= to || c.size <= at {
			continue
		}
		_, leaves, ok := hints(c.stored)
		from := c.size - uint64(len(leaves))
		if ok && !c.anchored && from <= at {
			all = append(all, leaves[at-from:min(c.size, to)-from]...)
		}
	}
	if a.size+uint64(len(all)) != to {
		return nil, false
	}
	for _, h := range all {
		t.add(h)
	}
	return all, t.root() == root
}
