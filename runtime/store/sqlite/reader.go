package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// readers is how many queries of one store run at once.
const readers = 4

// A reader reads. Every method is one look at one state of the store, and holds
// nothing when it has returned: a reader that stayed would keep the write-ahead
// log from being moved into the file, and it would grow without end.
type reader struct {
	path string
	disk Disk
	db   *sql.DB
	shut atomic.Bool

	secret *chain.Secret // nil: what is read is not verified

	pool pool

	mu    sync.Mutex
	stmts map[string]*sql.Stmt // of queries, of which there are few
}

// Path returns the name of the file of the store, without links.
func (r *reader) Path() string { return r.path }

// close ends all reading.
func (r *reader) close() error {
	if r.db == nil || r.shut.Swap(true) {
		return nil
	}
	return errors.Join(r.pool.close(), r.db.Close())
}

const entryColumns = "e.seq, e.at, e.kind, e.session, e.run, e.call, e.tool, e.mark, e.leaf, p.seq IS NOT NULL, p.data, " +
	"e.mac, (SELECT mac FROM entry WHERE seq = e.seq - 1), g.data, g.mac FROM entry e LEFT JOIN private p ON p.seq = e.seq LEFT JOIN segment g ON g.last = e.seq - 1"

// Read returns the entries after a position. See [journal.Journal]. Where the file
// is damaged the error is a [*CorruptError], where an entry is not one of the
// store's owners a [*ForgedError], and the entries before that are returned.
func (r *reader) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	if limit <= 0 || int64(after) < 0 {
		return nil, nil
	}
	if r.shut.Load() {
		return nil, fmt.Errorf("read %q: %w", r.path, journal.ErrClosed)
	}
	var list []journal.Entry
	err := r.pool.with(ctx, func(c *entryReader) (err error) {
		list, err = c.read(ctx, r.secret, after, limit)
		return err
	})
	last := after + uint64(len(list))
	switch {
	case err == nil:
		return list, nil
	case errors.Is(err, chain.ErrMAC):
		return list, r.forged(last+1, chain.NotAuthentic)
	case errors.Is(err, errArchived), errors.Is(err, errMissing), damaged(err):
		if err := r.absent(ctx, last+1, err); err != nil {
			return list, err
		}
		return list, &CorruptError{Path: r.path, Readable: last, Damaged: last + 1, Cause: err}
	}
	return list, fmt.Errorf("read %q: %w", r.path, err)
}

// Call returns the entries of a call in their order. See [journal.Journal]. The index of the calls says where they
// are: the error is an [*IndexError] where one of them is not of the call, and a [*journal.ArchivedError] where the first one is
// archived and no later one begins another call of the id. Of a call that is archived altogether there are none.
func (r *reader) Call(ctx context.Context, key journal.CallKey) ([]journal.Entry, error) {
	if key.Call == "" { // entries that are of no call
		return nil, nil
	}
	list, err := r.entries(ctx, "SELECT "+entryColumns+` WHERE e.seq IN (
  SELECT value FROM json_each((SELECT '[' || entries || ']' FROM call WHERE session = ?1 AND call = ?2))
  UNION ALL SELECT seq FROM entry WHERE seq > (SELECT indexed FROM owner) AND session = ?1 AND call = ?2) AND `+lowerEnd+" ORDER BY e.seq", key.Session, key.Call)
	for i := range list {
		if e := &list[i]; e.Session != key.Session || e.Call != key.Call {
			return list[:i], &IndexError{r.path, e.Seq, fmt.Sprintf("it says that the entry is of call %q in session %q", key.Call, key.Session)}
		}
	}
	if err == nil && len(list) > 0 && !slices.ContainsFunc(list, func(e journal.Entry) bool { return e.Mark == journal.MarkOpened }) {
		err = r.beginning(ctx, key)
	}
	return list, err
}

// entries returns the entries of a query; with an error those before it.
func (r *reader) entries(ctx context.Context, query string, args ...any) (list []journal.Entry, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var e journal.Entry
		var at sql.NullInt64
		var private bool
		var stored, before, data, mac []byte
		if err := rows.Scan(&e.Seq, &at, &e.Kind, &e.Session, &e.Run, &e.Call, &e.Tool, &e.Mark, &e.Leaf, &private, &e.Private, &stored, &before, &data, &mac); err != nil {
			return err
		}
		if at.Valid {
			e.At = time.Unix(0, at.Int64).UTC()
		}
		if private && e.Private == nil {
			e.Private = []byte{}
		}
		if r.secret != nil && !r.verified(&e, stored, before, data, mac) {
			return r.forged(e.Seq, chain.NotAuthentic)
		}
		list = append(list, e)
		return nil
	}, query, args...)
	return list, err
}

// verified reports whether an entry verifies, by the column mac of the one before it, or by the row of the segment that
// ends with that.
func (r *reader) verified(e *journal.Entry, stored, before, data, mac []byte) bool {
	l := chain.Link{Chain: chain.New(r.secret)}
	column, ok := chain.ParseColumn(stored)
	if !ok {
		return false
	}
	if e.Seq == 1 {
		l.Last = l.Chain.First()
		return l.Next(e, &column)
	}
	if data != nil {
		segment, ok := l.Chain.ReadSegment(e.Seq-1, data, mac)
		l.Last = segment.Tail
		return ok && l.Next(e, &column)
	}
	previous, ok := chain.ParseColumn(before)
	l.Last = previous.MAC
	return ok && l.Next(e, &column)
}

// prepare returns the statement of a query, which ends with the pool.
func (r *reader) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.stmts[query]; s != nil {
		return s, nil
	}
	s, err := r.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if r.stmts == nil {
		r.stmts = map[string]*sql.Stmt{}
	}
	r.stmts[query] = s
	return s, nil
}

// rows calls f for each row of a query.
func (r *reader) rows(ctx context.Context, f func(*sql.Rows) error, query string, args ...any) (err error) {
	if r.shut.Load() {
		return fmt.Errorf("read %q: %w", r.path, journal.ErrClosed)
	}
	s, err := r.prepare(ctx, query)
	if err == nil {
		err = each(ctx, s, f, args)
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", r.path, err)
	}
	return nil
}

func each(ctx context.Context, s *sql.Stmt, f func(*sql.Rows) error, args []any) (err error) {
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// connect opens the connections that read.
func (r *reader) connect(mode string) (err error) {
	name := source(r.path, r.disk, mode, readOnly)
	if r.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	r.db.SetMaxOpenConns(readers)
	r.db.SetMaxIdleConns(readers)
	r.pool = newPool(name, readers)
	return nil
}

// forged is the error of an entry that does not verify.
func (r *reader) forged(seq uint64, what string) error {
	return &ForgedError{Path: r.path, Seq: seq, What: what}
}
