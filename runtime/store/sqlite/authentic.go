package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// A standing is how far a store goes.
type standing struct {
	last   uint64
	tail   chain.MAC // of the last entry
	rooted uint64    // the entries that the tree of the sessions covers
	root   chain.Root
	low    chain.Segment   // the last one
	since  []journal.Entry // those that it does not cover
}

// authenticate refuses a store that is not the one of the keys, is older than a
// head, or has an entry after it that does not verify. Entries below the head that the tree of the sessions
// covers are read only when something is wrong, so that the error names the first that does not verify.
func (r *reader) authenticate(ctx context.Context, h *chain.Head) (at standing, err error) {
	at, err = r.compare(ctx, h)
	return at, r.first(ctx, err)
}

// steady calls f, which reads a store that its owner may write meanwhile, and again where entries were archived
// while it failed: what f did not find may be in a segment by now. Nothing else of what was read once changes.
func (r *reader) steady(ctx context.Context, f func() error) error {
	for {
		before, unknown := r.lower(ctx)
		err := f()
		if err == nil || unknown != nil {
			return err
		}
		if now, fault := r.lower(ctx); fault != nil || now.Last == before.Last {
			return err
		}
	}
}

// first returns the error of the first entry that does not verify or is missing, where err is that of a later one.
func (r *reader) first(ctx context.Context, err error) error {
	var seq uint64
	var forged *ForgedError
	var corrupt *CorruptError
	switch {
	case errors.As(err, &forged):
		seq = forged.Seq
	case errors.As(err, &corrupt):
		seq = corrupt.Damaged
	}
	if seq == 0 {
		return err
	}
	low, fault := r.lower(ctx)
	if fault != nil {
		return fault
	}
	for after := low.Last; after+1 < seq; {
		list, earlier := r.Read(ctx, after, int(min(followed, seq-1-after)))
		switch {
		case earlier != nil:
			return earlier
		case len(list) == 0:
			return err
		}
		after += uint64(len(list))
	}
	return err
}

// compare is authenticate without the look for the first entry.
func (r *reader) compare(ctx context.Context, h *chain.Head) (at standing, err error) {
	var id, root, mac []byte
	var epoch uint64
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&id, &epoch, &at.rooted, &root, &mac, &at.last) },
		"SELECT store, epoch, rooted, root, mac, (SELECT coalesce(max(seq), 0) FROM entry) FROM owner")
	if err == nil {
		at.low, err = r.lower(ctx)
	}
	switch {
	case err != nil:
		return at, r.explain(ctx, err)
	case !bytes.Equal(id, r.secret.ID[:]):
		return at, fmt.Errorf("open the store %q: %w: it is that of another store; restore the one that belongs to it", r.path, ErrKeys)
	case at.last < h.Size || epoch < h.Epoch:
		return at, fmt.Errorf("open the store %q: %w: it has %d entries and its owner was the %d., by its keys there were at least %d and the %d.; "+
			"put the newer one back, or, "+hintRestored, r.path, ErrRolledBack, at.last, epoch, h.Size, h.Epoch, r.path)
	case at.rooted < h.Rooted:
		return at, fmt.Errorf("open the store %q: %w: the tree of its sessions covers %d entries, by its keys it covered at least %d; put the newer one back, or, "+
			hintRestored, r.path, ErrRolledBack, at.rooted, h.Rooted, r.path)
	case at.low.Last < h.Archived:
		return at, fmt.Errorf("open the store %q: %w: entries up to %d were archived, by its keys at least those up to %d; put the newer one back, or, "+
			hintRestored, r.path, ErrRolledBack, at.low.Last, h.Archived, r.path)
	case at.low.Last > 0 && (at.low.Last > at.rooted || at.low.Last >= at.last):
		return at, r.badArchive(fmt.Sprintf("they have entries up to %d, and the tree of the sessions covers %d of %d", at.low.Last, at.rooted, at.last))
	case at.rooted > at.last:
		return at, r.badTree(fmt.Sprintf("it covers %d entries, and there are %d", at.rooted, at.last))
	}
	if h.Size >= at.low.Last { // an older copy of the keys may know of archived entries alone
		if m, err := r.macAt(ctx, h.Size); err != nil {
			return at, err
		} else if m != h.Tail {
			return at, r.forged(h.Size, whatFork)
		}
	}
	if err := r.follow(ctx, max(at.low.Last, min(at.rooted, h.Size)), &at); err != nil {
		return at, err
	}
	m, err := r.macAt(ctx, at.rooted)
	if err == nil && !chain.New(r.secret).HoldsRoot(at.rooted, root, mac, m) {
		err = r.badTree("its root is not authentic")
	}
	copy(at.root[:], root)
	return at, err
}

// badTree is the error of a tree of the sessions that an owner did not write.
func (r *reader) badTree(what string) error {
	return fmt.Errorf("open the store %q: %w: the tree of its sessions: %s; keep the store as it is, and go on with a copy of it and of its keys file that were made together",
		r.path, ErrForged, what)
}

// followed is how many entries are read at once.
const followed = 1024

// follow verifies the entries after a position up to the last one. It reads none behind that: the store may
// grow meanwhile, and a read that ends elsewhere may end within an Append.
func (r *reader) follow(ctx context.Context, after uint64, at *standing) (err error) {
	more := false
	if at.tail, err = r.macAt(ctx, after); err != nil {
		return err
	}
	for after < at.last {
		list, err := r.Read(ctx, after, int(min(followed, at.last-after)))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		after += uint64(len(list))
		for i := range list {
			if list[i].Seq > at.rooted {
				at.since = append(at.since, list[i])
			}
		}
		if at.tail, more, err = r.stored(ctx, after); err != nil {
			return err
		}
	}
	if at.last = after; more {
		return r.forged(after, whatHalf)
	}
	return nil
}

// macAt returns the stored authenticator of an entry, or what the first entry is chained to.
func (r *reader) macAt(ctx context.Context, seq uint64) (m chain.MAC, err error) {
	if seq == 0 {
		return chain.New(r.secret).First(), nil
	}
	m, _, err = r.stored(ctx, seq)
	return m, err
}

// stored returns the authenticator of an entry as it is stored, and whether more
// entries of the same Append follow.
func (r *reader) stored(ctx context.Context, seq uint64) (m chain.MAC, more bool, err error) {
	var text []byte
	if err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&text) }, "SELECT mac FROM entry WHERE seq = ?", int64(seq)); err != nil {
		return m, false, r.explain(ctx, err)
	}
	if text == nil { // a segment may end with it
		low, err := r.lower(ctx)
		if err != nil {
			return m, false, err
		}
		if low.Last == seq {
			return low.Tail, false, nil
		}
	}
	column, ok := chain.ParseColumn(text)
	if !ok {
		return m, false, r.forged(seq, chain.NotAuthentic)
	}
	return column.MAC, column.Flags&chain.FlagMore != 0, nil
}
