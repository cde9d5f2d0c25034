package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

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
	var archived uint64
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&count, &last, &archived) },
		"SELECT count(*), coalesce(max(seq), 0), (SELECT coalesce(max(last), 0) FROM segment) FROM entry e WHERE seq > (SELECT coalesce(max(last), 0) FROM segment)")
	if err == nil && count != last-min(last, archived) {
		return r.diagnose(ctx, fmt.Errorf("there are %d entries after %d, and the last has position %d", count, archived, last))
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

// diagnose says how far the entries can be read.
func (r *reader) diagnose(ctx context.Context, cause error) error {
	const many = 1024
	var known *CorruptError
	low, err := r.lower(ctx)
	if err != nil {
		low.Last = 0 // it cannot be read: from the first entry on
	}
	for after := low.Last; ; {
		list, err := r.Read(ctx, after, many)
		if errors.As(err, &known) {
			known.Cause = cause
			return known
		}
		if err != nil {
			return &CorruptError{Path: r.path, Readable: after, Damaged: after + 1, Cause: errors.Join(cause, err)}
		}
		after += uint64(len(list))
		if len(list) < many {
			return &CorruptError{Path: r.path, Readable: after, Cause: cause}
		}
	}
}
