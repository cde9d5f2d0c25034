package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

// VerifyFrom is Verify for a journal that was verified up to a point. It reads the entries after it, and
// all of the journal when from is nil, or is about another log, or the notes about the entries before it are not the
// ones that were compared then: a checkpoint was removed, or an anchor given that was not. Keyed says that
// src verifies entries by the keys of the store. Report.Resumed says from where it has read, and
// Report.Resume is where the next verification can go on.
func VerifyFrom(ctx context.Context, src Source, v note.Verifier, anchored [][]byte, from *Resume, keyed bool) (Report, error) {
	r := resumption{from: from, keyed: keyed}
	return verify(ctx, src, v, anchored, func(w *walk) { r.begin(w, v) }, func(w *walk) { w.report.Resume = r.end(w, v, time.Now()) })
}

// A resumption is where a verification begins.
type resumption struct {
	from  *Resume
	keyed bool
}

// begin sets a walk to where the resume point is, if that is about this log and these notes.
func (r *resumption) begin(w *walk, v note.Verifier) {
	p := r.from
	if p == nil || p.Origin != v.Name() || p.Key != v.KeyHash() || p.Size == 0 || p.Size > w.report.Entries || p.Size < w.tree.Size ||
		len(p.Peaks) != merkle.PeaksOf(p.Size) || !slices.Equal(p.Restored, w.report.Restored) ||
		r.keyed && !p.Keyed || p.Notes != digest(w.targets, p.Size) {
		return
	}
	w.tree = tree{Size: p.Size, Peaks: slices.Clone(p.Peaks)}
	w.good = w.tree.Clone()
	w.report.Resumed = p.Size
	for ; w.next < len(w.targets) && w.targets[w.next].size <= p.Size; w.next++ {
		w.held(&w.targets[w.next])
	}
}

// end returns the point up to which a journal was verified in which nothing was wrong; nil when no checkpoint proves an entry.
func (r *resumption) end(w *walk, v note.Verifier, now time.Time) *Resume {
	if w.good.Size == 0 {
		return nil
	}
	return &Resume{
		Origin: v.Name(), Key: v.KeyHash(), Size: w.good.Size, Peaks: w.good.Peaks, Restored: w.report.Restored,
		Notes: digest(w.targets, w.good.Size), Keyed: r.keyed, At: now.UTC().Round(0),
	}
}

// digest names the notes of at most size entries, of which targets has all.
func digest(list []target, size uint64) tlog.Hash {
	var sums [][]byte
	for i := range list {
		if t := &list[i]; t.size <= size {
			sum := sha256.Sum256(fmt.Appendf(nil, "%v %d %d %v %v %v", t.anchored, t.size, t.said, t.root, t.restored, t.bad))
			sums = append(sums, sum[:])
		}
	}
	slices.SortFunc(sums, bytes.Compare)
	return sha256.Sum256(bytes.Join(sums, nil))
}
