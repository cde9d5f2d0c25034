package audit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Source is what Verify reads. Its methods are safe for concurrent use.
type Source interface {
	// Read is that of journal.Journal.
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
	// Checkpoints is that of Checkpoints.
	Checkpoints(ctx context.Context) ([]Checkpoint, error)
}

// Verify compares a journal with its checkpoints and with the notes that were
// anchored, which ReadAnchors finds. It reads every entry once and stops at the
// first fault, which the Report names; it writes nothing. A journal that is being
// written is verified up to where it was at the start. The error is about reading.
func Verify(ctx context.Context, src Source, v note.Verifier, anchored [][]byte) (Report, error) {
	return verify(ctx, src, v, anchored, func(*walk) {}, func(*walk) {})
}

// verify is Verify with functions that say where the walk begins, and that see where it has ended with nothing wrong.
func verify(ctx context.Context, src Source, v note.Verifier, anchored [][]byte, begin, end func(*walk)) (Report, error) {
	report := Report{Origin: v.Name()}
	// In this order: a checkpoint is newer than its entries.
	list, err := src.Checkpoints(ctx)
	if err != nil {
		return report, fmt.Errorf("the checkpoints cannot be read: %w", err)
	}
	if report.Entries, err = lastOf(ctx, src); err != nil {
		return report, err
	}
	w := walk{src: src, report: &report}
	w.targets, report.Restored = targets(list, anchored, v)
	bad, err := w.skipArchived(ctx)
	if bad == nil && err == nil {
		begin(&w)
		bad, err = w.run(ctx)
	}
	if err != nil {
		return report, err
	}
	if bad == nil {
		bad = report.unsigned(len(list))
	}
	if bad == nil {
		end(&w)
	}
	report.close(bad)
	return report, nil
}

// lastOf returns the position of the last entry, by about 2 log n reads.
func lastOf(ctx context.Context, src Source) (uint64, error) {
	beyond := func(at uint64) (bool, error) {
		e, err := read(ctx, src, at, 1)
		if _, damaged := damageOf(err); damaged || errors.As(err, new(*journal.ArchivedError)) {
			return true, nil // what cannot be read is there
		}
		return len(e) > 0, err
	}
	low, high := uint64(0), uint64(0) // there are entries before low+1, and none after high
	for step := uint64(1); ; step *= 2 {
		more, err := beyond(high)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		if low = high + 1; high >= math.MaxInt64/4 {
			return 0, fmt.Errorf("the journal has an entry after %d", high)
		}
		high += step
	}
	for low < high {
		mid := low + (high-low)/2
		more, err := beyond(mid)
		if err != nil {
			return 0, err
		}
		if more {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return high, nil
}

// A walk goes through a log once, from target to target.
type walk struct {
	src     Source
	report  *Report
	targets []target
	next    int  // the target that comes next
	tree    tree // of what was read

	good     tree   // at the last target that held
	anchored uint64 // at the last anchored one that held
	odd      *Fault // found, but something before it may yet turn out to be bad
}

func (w *walk) run(ctx context.Context) (*Fault, error) {
	var bad *Fault
	var err error
	var gap *page
	if e := pages(ctx, w.src, w.tree.Size, w.report.Entries, w.proved(), func(p *page) bool {
		bad, err = w.page(ctx, p)
		if p.gap {
			gap = p
		}
		return bad == nil && err == nil && !p.gap
	}); e != nil {
		return nil, e
	}
	if bad != nil || err != nil {
		return bad, err
	}
	return w.finish(ctx, gap)
}

// proved returns the size of the last target that can prove anything.
func (w *walk) proved() uint64 {
	var size uint64
	for _, t := range w.targets {
		if t.bad == nil {
			size = t.size
		}
	}
	return size
}

// page adds what was read to the tree.
func (w *walk) page(ctx context.Context, p *page) (*Fault, error) {
	w.report.Bytes += p.bytes
	odd := p.odd
	for _, h := range p.hashes {
		w.tree.Add(h)
		if odd != nil && odd.First == w.tree.Size {
			w.suspect(odd)
		}
		for w.next < len(w.targets) && w.targets[w.next].size <= w.tree.Size {
			t := &w.targets[w.next]
			w.next++
			if bad, err := w.meet(ctx, t); bad != nil || err != nil {
				return bad, err
			}
		}
	}
	return nil, nil
}

// suspect keeps a fault until it is known whether what is before it is good.
func (w *walk) suspect(f *Fault) {
	if w.odd == nil {
		w.odd = f
	}
}

// meet compares the tree with a target of its size.
func (w *walk) meet(ctx context.Context, t *target) (*Fault, error) {
	switch {
	case t.bad != nil:
		w.suspect(w.forged(t))
		return nil, nil
	case t.root != w.tree.Root():
		return w.locate(ctx, t)
	case w.odd != nil:
		return w.clear(t), nil
	}
	w.good = w.tree.Clone()
	w.held(t)
	return nil, nil
}

// held notes that a target holds.
func (w *walk) held(t *target) {
	if t.anchored {
		w.report.Anchors++
		w.report.Anchored, w.anchored = t.size, t.size
	} else {
		w.report.Checkpoints++
		w.report.Signed = t.size
	}
}

// forged is the fault of a note that says nothing.
func (w *walk) forged(t *target) *Fault {
	if t.anchored {
		return &Fault{ClassAnchor, t.size, t.size, t.bad.Error()}
	}
	return &Fault{ClassCheckpoint, w.good.Size + 1, max(t.size, w.good.Size+1), fmt.Sprintf("the checkpoint of %d entries: %v", t.size, t.bad)}
}

// clear returns what was suspected, now that a target holds after it.
func (w *walk) clear(t *target) *Fault {
	f := *w.odd
	if f.Class == ClassCheckpoint {
		f.First = f.Last
		f.What += fmt.Sprintf("; the entries are as they were signed up to %d", t.size)
	}
	return &f
}

// finish judges what the entries did not reach, because they end or because one
// is missing.
func (w *walk) finish(ctx context.Context, gap *page) (*Fault, error) {
	beyond, last := w.rest()
	missing := w.missing(gap, beyond, last)
	if missing == nil {
		if w.odd == nil && w.good.Size == 0 && w.tree.Size > 0 {
			return &Fault{ClassUnsigned, 1, w.tree.Size, "there is no checkpoint, so nothing says what the entries were"}, nil
		}
		if w.odd != nil && (w.odd.Class == ClassIndex || w.odd.Class == ClassPrivate) {
			w.unproved(w.odd)
		}
		return w.odd, nil
	}
	if beyond != nil {
		f, err := w.find(ctx, beyond)
		if err != nil {
			return nil, err
		}
		if f != nil {
			if f.First != missing.First {
				missing = f
			}
			return w.first(missing), nil
		}
	}
	f := w.first(missing)
	w.unproved(f)
	return f, nil
}

// rest returns the next target that can prove anything, and the size of the last one.
func (w *walk) rest() (beyond *target, last uint64) {
	for i := w.next; i < len(w.targets); i++ {
		t := &w.targets[i]
		switch {
		case t.bad != nil:
			if beyond == nil {
				w.suspect(w.forged(t))
			}
			continue
		case beyond == nil:
			beyond = t
		}
		last = t.size
	}
	return beyond, last
}

// missing is the fault of the entry that comes next and is not there, if one should be.
func (w *walk) missing(gap *page, beyond *target, last uint64) *Fault {
	here := w.tree.Size + 1
	if gap != nil {
		if f := forgery(nil); errors.As(gap.damage, &f) {
			return &Fault{ClassForged, here, here, gap.damage.Error()}
		}
	}
	switch {
	case gap != nil && gap.damage != nil:
		return &Fault{ClassUnreadable, here, here, gap.damage.Error()}
	case gap != nil:
		return &Fault{ClassDeleted, here, here, fmt.Sprintf("entry %d is missing, though others follow", here)}
	case beyond != nil:
		return &Fault{ClassCut, here, here, fmt.Sprintf("the journal ends after %d entries, though there were %d", w.tree.Size, last)}
	}
	return nil
}

// unproved adds to a fault after the last target which entries before it may be
// bad too.
func (w *walk) unproved(f *Fault) {
	if from := w.good.Size + 1; from < f.First {
		f.What += fmt.Sprintf("; nothing proves those from %d to %d", from, f.First-1)
	}
}

// first returns what was suspected, if it is a bad entry before f, and else f: a
// bad note alone says less than an entry.
func (w *walk) first(f *Fault) *Fault {
	if w.odd != nil && w.odd.Class != ClassCheckpoint && w.odd.Class != ClassAnchor && w.odd.First < f.First {
		return w.odd
	}
	return f
}

// locate says where the log stops being the one that a target was made of.
func (w *walk) locate(ctx context.Context, t *target) (*Fault, error) {
	f, err := w.find(ctx, t)
	if err != nil {
		return nil, err
	}
	if f == nil {
		f = &Fault{ClassRewritten, w.good.Size + 1, t.size, fmt.Sprintf("the first %d entries are not those of the checkpoint", t.size)}
		if t.anchored {
			f.First = w.anchored + 1
			f.What = fmt.Sprintf("the first %d entries are not those of the anchored checkpoint", t.size)
		}
	}
	return w.first(f), nil
}

// find compares the entries after the last good target with what the hints say of
// them, if those lead to the root of t. It returns nil when they do not.
func (w *walk) find(ctx context.Context, t *target) (*Fault, error) {
	want, ok := claim(w.targets, &w.good, t.size, t.root)
	if !ok {
		return nil, nil
	}
	have := make([]tlog.Hash, 0, len(want))
	from := w.good.Size
	for len(have) < len(want) {
		var h hasher
		at := from + uint64(len(have))
		entries, err := read(ctx, w.src, at, min(pageSize, len(want)-len(have)))
		damage, damaged := damageOf(err)
		if err != nil && !damaged {
			return nil, err
		}
		for i := range entries {
			if at++; entries[i].Seq != at {
				entries = nil
				break
			}
			have = append(have, h.Leaf(entries[i].Leaf))
		}
		if len(entries) == 0 || damage != nil {
			break
		}
	}
	return differ(from, have, want), nil
}
