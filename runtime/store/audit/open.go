package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// ErrTampered says that a journal is not the one of which its checkpoints were
// made. It is found with errors.Is.
var ErrTampered = errors.New("somebody has changed the journal or its checkpoints, or one of the two was restored from another copy; " +
	"nothing was written: keep both as they are, run Verify to see what is wrong, and go on with copies of both that were made together, or with a new journal")

// refuse says what was found at the start.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrTampered)
}

// pageSize is how many entries are read at once.
const pageSize = 1024

// resume brings the tree to where the journal is.
func (l *Log) resume(ctx context.Context) error {
	last, err := l.catchUp(ctx, l.store.RecentCheckpoints)
	if err != nil {
		return err
	}
	if last == nil && l.tree.Size > Interval {
		l.tell(fmt.Errorf("the journal has %d entries and no checkpoint: they are signed as they are now", l.tree.Size))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arm(false)
	return nil
}

// A recentFunc returns checkpoints as Checkpoints.RecentCheckpoints does.
type recentFunc func(ctx context.Context, size uint64, most int) ([]Checkpoint, error)

// largest returns the largest checkpoint of at most size entries, nil when there is none.
func (f recentFunc) largest(ctx context.Context, size uint64) (*Checkpoint, error) {
	list, err := f(ctx, size, 1)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the checkpoints cannot be read: %w", err)
	case len(list) == 0:
		return nil, nil
	}
	return &list[0], nil
}

// of returns the checkpoint of size entries, nil when there is none.
func (f recentFunc) of(ctx context.Context, size uint64) (*Checkpoint, error) {
	c, err := f.largest(ctx, size)
	if c != nil && c.Size != size {
		c = nil
	}
	return c, err
}

// catchUp compares the journal with its last checkpoint and with its anchors, and
// brings the tree to where it is. It returns that checkpoint, if there is one. It reads
// no more of the checkpoints than the last ones, however many there are.
func (l *Log) catchUp(ctx context.Context, stored recentFunc) (last *Checkpoint, err error) {
	if last, err = stored.largest(ctx, math.MaxUint64); err != nil {
		return nil, err
	}
	if last != nil {
		if err := l.restart(ctx, stored, last); err != nil {
			return nil, err
		}
	}
	notes, err := l.noted(ctx, last)
	if err != nil {
		return nil, err
	}
	l.tried, l.saved = l.tree.Size, l.tree.Size
	seen := map[uint64]tlog.Hash{l.tree.Size: l.tree.Root()}
	err = scan(ctx, l.inner, l.tree.Size, 0, &l.hasher, func(h tlog.Hash) error {
		l.grow([]tlog.Hash{h})
		if slices.ContainsFunc(notes, func(n statement) bool { return n.said == l.tree.Size }) {
			seen[l.tree.Size] = l.tree.Root()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return last, l.compareNotes(ctx, notes, seen, stored)
}

// restart sets the tree to what the last checkpoint says, if the journal agrees.
func (l *Log) restart(ctx context.Context, stored recentFunc, last *Checkpoint) error {
	said := l.check(last.Signed())
	if said.bad != nil {
		return refuse("the checkpoint of %d entries: %v", last.Size, said.bad)
	}
	size, root := said.said, said.root
	l.restored = said.restored
	if size != last.Size || size == 0 {
		return refuse("the checkpoint that is stored as that of %d entries is that of %d", last.Size, size)
	}
	t, leaves, ok, err := credible(ctx, stored, *last, root)
	switch {
	case err != nil:
		return err
	case ok:
		l.tree = t
		err := l.compare(ctx, size, leaves)
		if !errors.As(err, new(*journal.ArchivedError)) {
			return err
		}
	}
	// The hints are of no use, so the whole journal has to be read, or what follows its archived entries.
	t, err = l.whole(ctx, stored, size)
	switch {
	case err != nil:
		return err
	case t.Size < size:
		return refuse("the journal has %d entries, but its last checkpoint has %d", t.Size, size)
	case t.Root() != root:
		return refuse("the first %d entries of the journal are not those of its last checkpoint", size)
	}
	l.tree = t
	return nil
}

// whole returns the tree of the entries up to a size, of all for 0. It begins with those that are archived, as a checkpoint proves them.
func (l *Log) whole(ctx context.Context, stored recentFunc, size uint64) (tree, error) {
	t, err := l.upTo(ctx, tree{}, size)
	if gone := (*journal.ArchivedError)(nil); errors.As(err, &gone) {
		if t, err = l.archived(ctx, stored, gone); err == nil {
			t, err = l.upTo(ctx, t, size)
		}
	}
	return t, err
}

// upTo adds the entries up to a size to a tree, all for 0.
func (l *Log) upTo(ctx context.Context, t tree, size uint64) (tree, error) {
	err := scan(ctx, l.inner, t.Size, size, &l.hasher, func(h tlog.Hash) error {
		t.Add(h)
		return nil
	})
	return t, err
}

// archived returns the tree of the entries that are archived: that of the checkpoint which is signed for them.
func (l *Log) archived(ctx context.Context, stored recentFunc, gone *journal.ArchivedError) (tree, error) {
	c, err := stored.of(ctx, gone.Last)
	if err != nil {
		return tree{}, err
	}
	if c != nil {
		t, _, ok := hints(*c)
		if said := l.check(c.Signed()); ok && said.bad == nil && said.said == c.Size && said.root == t.Root() {
			return t.Clone(), nil
		}
	}
	return tree{}, refuse("the entries up to %d are archived, and no checkpoint proves them", gone.Last)
}

// check returns what a signed note says, if it is one of this log.
func (l *Log) check(signed []byte) statement {
	if l.verifier != nil {
		return open(signed, l.verifier)
	}
	text, _, found := bytes.Cut(signed, []byte("\n\n"))
	if !found {
		return statement{bad: errors.New("it is no note")}
	}
	again, err := note.Sign(&note.Note{Text: string(text) + "\n"}, l.signer)
	switch {
	case err != nil:
		return statement{bad: fmt.Errorf("it cannot be signed again: %w", err)}
	case !bytes.Equal(again, signed):
		return statement{bad: fmt.Errorf("it is not signed by the key of %q, which all checkpoints of a journal have to be", l.signer.Name())}
	}
	return parse(string(text) + "\n")
}

// credible returns the tree and the leaf hashes that are stored with a checkpoint, if
// its root follows from both of them.
func credible(ctx context.Context, stored recentFunc, c Checkpoint, root tlog.Hash) (t tree, leaves []tlog.Hash, ok bool, err error) {
	t, leaves, ok = hints(c)
	if !ok || len(leaves) == 0 || t.Root() != root {
		return tree{}, nil, false, nil
	}
	from := c.Size - uint64(len(leaves))
	var before tree
	if from > 0 {
		at, err := stored.of(ctx, from)
		if err != nil || at == nil {
			return tree{}, nil, false, err
		}
		if before, _, ok = hints(*at); !ok {
			return tree{}, nil, false, nil
		}
	}
	before = before.Clone()
	for _, h := range leaves {
		before.Add(h)
	}
	return t, leaves, before.Root() == root, nil
}

// compare compares the entries of the last interval before size.
func (l *Log) compare(ctx context.Context, size uint64, leaves []tlog.Hash) error {
	at := size - uint64(len(leaves))
	i := 0
	err := scan(ctx, l.inner, at, size, &l.hasher, func(h tlog.Hash) error {
		if i++; h != leaves[i-1] {
			return refuse("entry %d of the journal is not that of the checkpoint of %d entries", at+uint64(i), size)
		}
		return nil
	})
	if err == nil && i < len(leaves) {
		err = refuse("the journal has %d entries after %d, but its last checkpoint, of %d entries, has %d", i, at, size, len(leaves))
	}
	return err
}

// scan calls f with the hash of each leaf after a position, up to another one (0:
// to the end). It ends early, without an error, where the journal does.
func scan(ctx context.Context, j journal.Journal, after, to uint64, h *hasher, f func(tlog.Hash) error) error {
	for to == 0 || after < to {
		limit := pageSize
		if to != 0 {
			limit = int(min(pageSize, to-after))
		}
		entries, err := read(ctx, j, after, limit)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return nil
		}
		for i := range entries {
			if after++; entries[i].Seq != after {
				return refuse("the journal has entry %d where entry %d should be", entries[i].Seq, after)
			}
			if err := f(h.Leaf(entries[i].Leaf)); err != nil {
				return err
			}
		}
	}
	return nil
}
