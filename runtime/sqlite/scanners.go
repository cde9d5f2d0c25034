package sqlite

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// scanners are the connections that read pages, made when they are needed. The
// zero value has none.
type scanners struct {
	source string
	idle   chan *scanner // nil: one may be made
}

func newScanners(source string, most int) scanners {
	s := scanners{source, make(chan *scanner, most)}
	for range most {
		s.idle <- nil
	}
	return s
}

// read reads by one of the connections, and verifies what it reads when there are
// keys. It waits until one is free.
func (s *scanners) read(ctx context.Context, keys *secret, after uint64, limit int) (list []journal.Entry, err error) {
	var c *scanner
	open := false
	select {
	case c, open = <-s.idle:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !open {
		return nil, journal.ErrClosed
	}
	defer func() {
		// After an error it is not known what the connection believes of the file.
		if err != nil && c != nil {
			c.close()
			c = nil
		}
		s.idle <- c
	}()
	if c == nil {
		if c, err = openScanner(s.source); err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
	return c.read(ctx, keys, after, limit)
}

// close closes the connections when what they read is read.
func (s *scanners) close() {
	for range cap(s.idle) {
		if c := <-s.idle; c != nil {
			c.close()
		}
	}
	close(s.idle)
}
