package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A target is a size at which the root of the log is known, from a stored
// checkpoint or from an anchored note; or at which it should be.
type target struct {
	statement
	size     uint64
	anchored bool
	stored   Checkpoint // if it is one; for its hints
}

// openAll checks the signatures of notes, each of them once, on all processors.
func openAll(list []Checkpoint, anchored [][]byte, v note.Verifier) map[string]statement {
	said := make(map[string]statement, len(list))
	for _, c := range list {
		said[string(c.Signed())] = statement{}
	}
	for _, signed := range anchored {
		said[string(signed)] = statement{}
	}
	texts := slices.Collect(maps.Keys(said))
	results := make([]statement, len(texts))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), maxWorkers) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(texts)); i = next.Add(1) - 1 {
				results[i] = open([]byte(texts[i]), v)
			}
		})
	}
	wg.Wait()
	for i, text := range texts {
		said[text] = results[i]
	}
	return said
}

// targets opens all notes and returns them by size, and of one size the stored
// ones first. Anchored notes about other logs are left out, and so are notes about
// entries that a restore has given up. It returns the restores that the notes tell
// of, too.
func targets(list []Checkpoint, anchored [][]byte, v note.Verifier) ([]target, []uint64) {
	out := make([]target, 0, len(list)+len(anchored))
	said := openAll(list, anchored, v)
	for _, c := range list {
		t := target{size: c.Size, stored: c, statement: said[string(c.Signed())]}
		if size := t.said; t.bad == nil && (size != c.Size || size == 0) {
			t.bad = fmt.Errorf("it is stored as that of %d entries, but is that of %d", c.Size, size)
		}
		out = append(out, t)
	}
	for _, signed := range anchored {
		t := target{anchored: true, statement: said[string(signed)]}
		if t.size = t.said; errors.Is(t.bad, errOrigin) || t.bad == nil && t.size == 0 {
			continue
		}
		out = append(out, t)
	}
	restored := restores(out)
	out = slices.DeleteFunc(out, func(t target) bool { return t.bad == nil && t.given(restored) })
	slices.SortStableFunc(out, func(a, b target) int { return cmp.Compare(a.size, b.size) })
	return out, restored
}

// restores returns the longest list of restores, and makes bad what belongs to
// another one: two histories that were both restored are not one journal.
func restores(list []target) (longest []uint64) {
	for i := range list {
		if t := &list[i]; t.bad == nil && len(t.restored) > len(longest) {
			longest = t.restored
		}
	}
	for i := range list {
		if t := &list[i]; t.bad == nil && !t.precedes(longest) {
			t.bad = fmt.Errorf("it is of a journal that was restored at %v, and this one was at %v", t.restored, longest)
		}
	}
	return longest
}

// maxClaim bounds how many leaf hashes are joined to find an entry exactly.
const maxClaim = 1 << 22

// claim joins the hints about the entries from a.Size+1 to to. They are good only
// if they lead from the tree a to the root.
func claim(list []target, a *tree, to uint64, root tlog.Hash) ([]tlog.Hash, bool) {
	if to <= a.Size || to-a.Size > maxClaim {
		return nil, false
	}
	var all []tlog.Hash
	t := a.Clone()
	for i := range list {
		c, at := &list[i], a.Size+uint64(len(all))
		if at >= to || c.size <= at {
			continue
		}
		_, leaves, ok := hints(c.stored)
		from := c.size - uint64(len(leaves))
		if ok && !c.anchored && from <= at {
			all = append(all, leaves[at-from:min(c.size, to)-from]...)
		}
	}
	if a.Size+uint64(len(all)) != to {
		return nil, false
	}
	for _, h := range all {
		t.Add(h)
	}
	return all, t.Root() == root
}
