package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// lowerEnd is the condition of entries that are not archived.
const lowerEnd = "e.seq > (SELECT coalesce(max(last), 0) FROM segment)"

// Segments returns the segments that have entries which the store has not, in their order. With keys the
// error is [ErrForged] when an owner of the store did not write them.
func (r *reader) Segments(ctx context.Context) ([]journal.Segment, error) {
	rows, err := r.segments(ctx, "SELECT last, data, mac FROM segment ORDER BY last")
	list := make([]journal.Segment, len(rows))
	next := uint64(1)
	for i, s := range rows {
		if s.First != next {
			return nil, r.badArchive(fmt.Sprintf("entry %d is in none", next))
		}
		next = s.Last + 1
		list[i] = journal.Segment{First: s.First, Last: s.Last, File: s.File, Digest: s.Digest}
	}
	return list, err
}

// segments returns the rows of a query.
func (r *reader) segments(ctx context.Context, query string, args ...any) (list []chain.Segment, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var last uint64
		var data, mac []byte
		if err := rows.Scan(&last, &data, &mac); err != nil {
			return err
		}
		s, ok := r.verifier().ReadSegment(last, data, mac)
		if !ok {
			return r.badArchive(fmt.Sprintf("what it says of entries up to %d is not authentic", last))
		}
		list = append(list, s)
		return nil
	}, query, args...)
	return list, err
}

// verifier returns a chain, nil without keys.
func (r *reader) verifier() *chain.Chain {
	if r.secret == nil {
		return nil
	}
	return chain.New(r.secret)
}

// lower returns the last segment; none: its zero value, after which the chain begins.
func (r *reader) lower(ctx context.Context) (chain.Segment, error) {
	list, err := r.segments(ctx, "SELECT last, data, mac FROM segment ORDER BY last DESC LIMIT 1")
	switch {
	case err != nil:
		return chain.Segment{}, err
	case len(list) == 0 && r.secret == nil:
		return chain.Segment{}, nil
	case len(list) == 0:
		return chain.Segment{Tail: chain.New(r.secret).First()}, nil
	}
	return list[0], nil
}

// archived returns the error of a read of an entry that is archived; nil: it is not.
func (r *reader) archived(ctx context.Context, seq uint64) error {
	low, err := r.lower(ctx)
	if err != nil || seq == 0 || seq > low.Last {
		return err
	}
	list, err := r.segments(ctx, "SELECT last, data, mac FROM segment WHERE last >= ? ORDER BY last LIMIT 1", int64(seq))
	if err != nil {
		return err
	}
	out := &journal.ArchivedError{Seq: seq, Last: low.Last}
	if len(list) > 0 && list[0].First <= seq {
		out.Segment = list[0].File
	}
	return out
}

// beginning returns the error of a call whose first entry is archived.
func (r *reader) beginning(ctx context.Context, key journal.CallKey) error {
	var first uint64
	err := r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&first) }, "SELECT first FROM call WHERE session = ? AND call = ?", key.Session, key.Call)
	if err == nil {
		err = r.archived(ctx, first)
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", r.path, err)
	}
	return nil
}

// Archived returns the last position that is archived; 0: none is.
func (r *reader) Archived(ctx context.Context) (uint64, error) {
	low, err := r.lower(ctx)
	return low.Last, err
}

// absent returns the error of a read that did not find an entry, for a cause of entryReader; nil: it is another one's.
func (r *reader) absent(ctx context.Context, seq uint64, cause error) error {
	if !errors.Is(cause, errArchived) && !errors.Is(cause, errMissing) {
		return nil
	}
	if err := r.archived(ctx, seq); err != nil {
		return fmt.Errorf("read %q: %w", r.path, err)
	}
	return nil
}

// badArchive is the error of a lower end that an owner did not write.
func (r *reader) badArchive(what string) error {
	return fmt.Errorf("the store %q: %w: its segments: %s; keep the store as it is, and go on with a copy of it and of its keys file that were made together",
		r.path, ErrForged, what)
}
