// Package pages reads the entries of a store page by page and verifies them, without
// database/sql and the driver.
package pages

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite/internal/chain"
)

// ErrMissing says that there are entries after one that is not there.
var ErrMissing = errors.New("the entry is missing")

// ErrArchived says that an entry is in a segment.
var ErrArchived = errors.New("the entry is archived")

// A Pool holds the connections that read pages, each made when it is needed. The zero
// value has none.
type Pool struct {
	source string
	idle   chan *conn // nil: one may be made
}

// NewPool returns a pool of at most so many connections to the database that source
// names for SQLite.
func NewPool(source string, most int) Pool {
	s := Pool{source, make(chan *conn, most)}
	for range most {
		s.idle <- nil
	}
	return s
}

// Read reads by one of the connections, and verifies what it reads when there are
// keys. It waits until one is free.
func (s *Pool) Read(ctx context.Context, keys *chain.Secret, after uint64, limit int) (list []journal.Entry, err error) {
	err = s.with(ctx, func(c *conn) (err error) {
		list, err = c.read(ctx, keys, after, limit)
		return err
	})
	return list, err
}

// with calls f with one of the connections.
func (s *Pool) with(ctx context.Context, f func(*conn) error) (err error) {
	var c *conn
	open := false
	select {
	case c, open = <-s.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !open {
		return journal.ErrClosed
	}
	defer func() {
		// After an error it is not known what the connection believes of the file, but for one that says what the file has.
		if err != nil && c != nil && !errors.Is(err, ErrArchived) {
			c.close()
			c = nil
		}
		s.idle <- c
	}()
	if c == nil {
		if c, err = openConn(s.source); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	return f(c)
}

// Close closes the connections when what they read is read.
func (s *Pool) Close() {
	for range cap(s.idle) {
		if c := <-s.idle; c != nil {
			c.close()
		}
	}
	close(s.idle)
}
