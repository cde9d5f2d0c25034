package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/sqlite/internal/chain"
)

// authenticate refuses a store that is not the one of the keys, is older than a
// head, or has an entry after it that does not verify. It returns the last
// position and its authenticator. Entries below the head are read only when something
// is wrong, so that the error names the first that does not verify.
func (r *reader) authenticate(ctx context.Context, h *chain.Head) (last uint64, tail chain.MAC, err error) {
	last, tail, err = r.compare(ctx, h)
	var forged *ForgedError
	for after := uint64(0); errors.As(err, &forged) && after+1 < forged.Seq; {
		list, first := r.Read(ctx, after, followed)
		switch {
		case first != nil:
			err = first
		case len(list) == 0:
			return 0, tail, err
		}
		after += uint64(len(list))
	}
	return last, tail, err
}

// compare is authenticate without the look for the first entry.
func (r *reader) compare(ctx context.Context, h *chain.Head) (last uint64, tail chain.MAC, err error) {
	var id []byte
	var epoch, indexed uint64
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&id, &epoch, &indexed, &last) },
		"SELECT store, epoch, indexed, (SELECT coalesce(max(seq), 0) FROM entry) FROM owner")
	switch {
	case err != nil:
		return 0, tail, r.explain(ctx, err)
	case !bytes.Equal(id, r.secret.ID[:]):
		return 0, tail, fmt.Errorf("open the store %q: %w: it is that of another store; restore the one that belongs to it", r.path, ErrKeys)
	case last < h.Size || epoch < h.Epoch:
		return 0, tail, fmt.Errorf("open the store %q: %w: it has %d entries and its owner was the %d., by its keys there were at least %d and the %d.; "+
			"put the newer one back, or, "+hintRestored, r.path, ErrRolledBack, last, epoch, h.Size, h.Epoch, r.path)
	}
	tail = chain.New(r.secret).First()
	if h.Size > 0 {
		if tail, _, err = r.stored(ctx, h.Size); err != nil {
			return 0, tail, err
		}
	}
	if tail != h.Tail {
		return 0, tail, r.forged(h.Size, whatFork)
	}
	return r.follow(ctx, h.Size, last, tail)
}

// followed is how many entries are read at once.
const followed = 1024

// follow verifies the entries after a position up to the last one.
func (r *reader) follow(ctx context.Context, after, last uint64, tail chain.MAC) (uint64, chain.MAC, error) {
	more := false
	for after < last {
		list, err := r.Read(ctx, after, followed)
		if err != nil {
			return 0, tail, err
		}
		if len(list) == 0 {
			break
		}
		after += uint64(len(list))
		if tail, more, err = r.stored(ctx, after); err != nil {
			return 0, tail, err
		}
	}
	if more {
		return 0, tail, r.forged(after, whatHalf)
	}
	return after, tail, nil
}

// stored returns the authenticator of an entry as it is stored, and whether more
// entries of the same Append follow.
func (r *reader) stored(ctx context.Context, seq uint64) (m chain.MAC, more bool, err error) {
	var text []byte
	if err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&text) }, "SELECT mac FROM entry WHERE seq = ?", int64(seq)); err != nil {
		return m, false, r.explain(ctx, err)
	}
	flags, m, ok := chain.ParseColumn(text)
	if !ok {
		return m, false, r.forged(seq, chain.NotAuthentic)
	}
	return m, flags&chain.FlagMore != 0, nil
}
