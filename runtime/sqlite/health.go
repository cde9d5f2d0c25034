package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Health is what to watch of a store.
type Health struct {
	Head  uint64 // entries
	Epoch uint64

	// WALFrames are the pages in the write-ahead log, Unmoved those that are not in the
	// file yet. Both stay below a few thousand, unless a reader never ends its read.
	WALFrames, Unmoved int64

	Lost error // why nothing can be written any more; nil: it can
}

// Health returns what to watch, after it has moved what it can of the write-ahead
// log into the file.
func (s *Store) Health() Health {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.checkpoint()
	return Health{
		Head: s.w.head, Epoch: s.Epoch(),
		WALFrames: s.w.frames, Unmoved: s.w.frames - s.w.moved, Lost: s.w.usable(),
	}
}

// Head returns the position of the last entry; 0: there is none.
func (r *reader) Head(ctx context.Context) (head uint64, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&head) }, "SELECT coalesce(max(seq), 0) FROM entry")
	return head, err
}

// Check reads all of the store and returns a [*CorruptError] when the file is
// damaged. It takes about a second per gigabyte. Check does not look for entries
// whose text was changed: the audit does.
func (r *reader) Check(ctx context.Context) error {
	return r.verify(ctx, "PRAGMA integrity_check(8)")
}

func (r *reader) verify(ctx context.Context, pragma string) error {
	var found []string
	err := r.rows(ctx, func(rows *sql.Rows) error {
		var line string
		err := rows.Scan(&line)
		if line != "ok" {
			found = append(found, line)
		}
		return err
	}, pragma)
	if err == nil && len(found) != 0 {
		err = errors.New(strings.Join(found, "; "))
		return r.diagnose(ctx, err)
	}
	if err != nil {
		return r.explain(ctx, err)
	}
	var count, last uint64
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&count, &last) }, "SELECT count(*), coalesce(max(seq), 0) FROM entry")
	if err == nil && count != last {
		return r.diagnose(ctx, fmt.Errorf("there are %d entries, and the last has position %d", count, last))
	}
	return r.explain(ctx, err)
}

// explain makes a [*CorruptError] of an error that means a damaged file.
func (r *reader) explain(ctx context.Context, err error) error {
	if err != nil && damaged(err) {
		return r.diagnose(ctx, err)
	}
	return err
}
