package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A conn is a connection, of the writer or of a pool. It is the driver's own: database/sql
// would replace a broken connection by a new one without a word, and costs a
// fifth of an append. It is used by one goroutine at a time.
type conn struct {
	c     driver.Conn
	stmts map[string]driver.Stmt
	named []driver.NamedValue // reused
}

type statement interface {
	driver.StmtExecContext
	driver.StmtQueryContext
}

func connect(dsn string) (*conn, error) {
	c, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, stmts: map[string]driver.Stmt{}}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	clear(c.stmts)
	return errors.Join(append(errs, c.c.Close())...)
}

// prepare returns the statement of a query, which is kept.
func (c *conn) prepare(query string) (statement, error) {
	s := c.stmts[query]
	if s == nil {
		var err error
		if s, err = c.c.Prepare(query); err != nil {
			return nil, err
		}
		c.stmts[query] = s
	}
	st, ok := s.(statement)
	if !ok {
		return nil, fmt.Errorf("the driver's %T has not the methods of this version", s)
	}
	return st, nil
}

func (c *conn) bind(args []driver.Value) []driver.NamedValue {
	c.named = c.named[:0]
	for i, v := range args {
		c.named = append(c.named, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.named
}

// exec runs a statement and returns how many rows it changed. There is no
// context: a write that was interrupted would leave the state unknown.
func (c *conn) exec(query string, args ...driver.Value) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// script runs statements that have no arguments.
func (c *conn) script(text string) error {
	s, err := c.c.Prepare(text)
	if err != nil {
		return err
	}
	_, err = s.(statement).ExecContext(context.Background(), nil)
	return errors.Join(err, s.Close())
}

// row returns the first row of a query; nil when there is none.
func (c *conn) row(query string, args ...driver.Value) (row []driver.Value, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row = make([]driver.Value, len(rows.Columns()))
	switch err := rows.Next(row); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return row, nil
}

// rowsPerLook is how many rows are read between two looks at the context.
const rowsPerLook = 64

// each calls f with each row of a query, in one state of the store, until f wants no more.
func (c *conn) each(ctx context.Context, query string, f func(row []driver.Value) (more bool, err error), args ...driver.Value) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for n := 0; ; n++ {
		if n%rowsPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := rows.Next(row); err != nil {
			return errIf(!errors.Is(err, io.EOF), err)
		}
		if more, err := f(row); err != nil || !more {
			return err
		}
	}
}

// number returns the one number of the first row.
func (c *conn) number(query string, args ...driver.Value) (int64, error) {
	row, err := c.row(query, args...)
	if err != nil {
		return 0, err
	}
	if len(row) != 0 {
		if n, ok := row[0].(int64); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q gave %v, not a number", query, row)
}

// written returns how many pages were written to the write-ahead log since it was
// set back.
func (c *conn) written(back bool) int {
	s, ok := c.c.(sqlite.DBStatus)
	if !ok {
		return 0
	}
	n, _, err := s.Status(sqlite.DBStatusCacheWrite, back)
	if err != nil {
		return math.MaxInt // one checkpoint too many does no harm
	}
	return n
}

// code returns SQLite's primary result code of an error; 0 when it has none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// harmless says that a statement with this error has changed nothing: SQLite refused
// it before it wrote, or rolled back what it had done. It is false for every error
// of which that is not known.
func harmless(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}

// locked says that another program held the lock that a statement needed: nothing was written.
func locked(err error) bool { return code(err) == sqlite3.SQLITE_BUSY }

// full says that there was no room on the disk for what a statement wrote.
func full(err error) bool { return code(err) == sqlite3.SQLITE_FULL }

// damaged says that an error means a damaged file.
func damaged(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB || errors.Is(err, errUnfit)
}

// errBusy says that a reader was in the way.
var errBusy = errors.New("busy")
