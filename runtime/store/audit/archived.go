package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// skipArchived makes a walk begin after the entries that are archived, if the source has not the first one: with the tree
// that is stored with the checkpoint of the last of them, whose root the key has signed. What proves the
// entries themselves is a segment.
//
// Of anchored notes about fewer entries it compares those of which a stored checkpoint has the size; the remaining
// notes are left to a verification with the segments.
func (w *walk) skipArchived(ctx context.Context) (*Fault, error) {
	var gone *journal.ArchivedError
	_, err := read(ctx, w.src, 0, 1)
	if !errors.As(err, &gone) {
		return nil, nil // the walk says what is wrong
	}
	for i := range w.targets {
		t := &w.targets[i]
		if at, _, ok := hints(t.stored); t.bad == nil && !t.anchored && t.size == gone.Last && ok && at.Root() == t.root {
			w.tree, w.good = at.Clone(), at.Clone()
			break
		}
	}
	if w.tree.Size == 0 {
		return &Fault{ClassArchive, 1, gone.Last, fmt.Sprintf("the entries up to %d are archived, and no signed checkpoint proves them", gone.Last)}, nil
	}
	w.report.Segment(Span{First: 1, Last: gone.Last}, nil)
	return w.archivedTargets(ctx, gone.Last)
}

// archivedTargets goes past the targets of archived entries.
func (w *walk) archivedTargets(ctx context.Context, last uint64) (*Fault, error) {
	var before *target // a stored checkpoint
	for ; w.next < len(w.targets) && w.targets[w.next].size <= last; w.next++ {
		t := &w.targets[w.next]
		switch {
		case t.bad != nil || t.size == last:
			if bad, err := w.meet(ctx, t); bad != nil || err != nil {
				return bad, err
			}
		case !t.anchored:
			before = t
			w.held(t)
		case before == nil || before.size != t.size:
		case before.root != t.root:
			return &Fault{ClassRewritten, 1, t.size, fmt.Sprintf("the first %d entries are not those of the anchored checkpoint", t.size)}, nil
		default:
			w.held(t)
		}
	}
	return nil, nil
}
