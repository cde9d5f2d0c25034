package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

var (
	errMissing  = errors.New("the entry is missing") // and there are later ones
	errArchived = errors.New("the entry is archived")
	// errUnfit is a value that SQLite has not written: the tables are strict.
	errUnfit = errors.New("a column holds a value of a type that it cannot hold")
)

// A pool has the connections that read entries in their order, each made when it is needed. They are the driver's own, as
// that of the writer: a verification reads every entry there is.
type pool struct {
	source string
	idle   chan *entryReader // nil: one may be made
}

// newPool returns a pool of at most so many connections to the database that source names.
func newPool(source string, most int) pool {
	p := pool{source, make(chan *entryReader, most)}
	for range most {
		p.idle <- nil
	}
	return p
}

// with calls f with a connection. It waits until one is free.
func (p *pool) with(ctx context.Context, f func(*entryReader) error) (err error) {
	var c *entryReader
	open := false
	select {
	case c, open = <-p.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !open {
		return journal.ErrClosed
	}
	defer func() {
		// After an error it is not known what the connection believes of the file, but for one that says what the file has.
		if err != nil && c != nil && !errors.Is(err, errArchived) {
			err = errors.Join(err, c.close())
			c = nil
		}
		p.idle <- c
	}()
	if c == nil {
		made, err := connect(p.source)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		c = &entryReader{conn: made}
	}
	return f(c)
}

// close closes the connections when what they read is read.
func (p *pool) close() error {
	var errs []error
	for range cap(p.idle) {
		if c := <-p.idle; c != nil {
			errs = append(errs, c.close())
		}
	}
	close(p.idle)
	return errors.Join(errs...)
}

// An entryReader is a connection that reads entries in their order and verifies them. It is used by one goroutine at a time.
type entryReader struct {
	*conn
	chain  *chain.Chain // nil: not needed yet
	column chain.Column // the column mac of the last entry that was read
}

// There is no limit in it: SQLite would compile a statement with a variable limit anew for each value.
const entriesAfter = `SELECT e.seq, e.at, e.kind, e.session, e.run, e.call, e.tool, e.mark, e.leaf, e.mac, p.seq, p.data
  FROM entry e LEFT JOIN private p ON p.seq = e.seq WHERE e.seq > ? ORDER BY e.seq`

const (
	macOf      = "SELECT mac FROM entry WHERE seq = ?"
	segmentOf  = "SELECT data, mac FROM segment WHERE last = ?"
	archivedTo = "SELECT last FROM segment WHERE last > ? ORDER BY last DESC LIMIT 1"
)

// read returns the entries after a position up to the first that is missing, or that does not verify when there are keys;
// with an error those before it. It is one look at one state of the store: while the first statement is not at its end
// the others see what that does.
func (c *entryReader) read(ctx context.Context, keys *chain.Secret, after uint64, limit int) (list []journal.Entry, err error) {
	var link *chain.Link
	err = c.each(ctx, entriesAfter, func(row []driver.Value) (more bool, err error) {
		if len(list) == 0 {
			if gone, err := c.row(archivedTo, int64(after)); err != nil || gone != nil {
				return false, errors.Join(err, errIf(gone != nil, errArchived))
			}
			if link, err = c.linkAfter(keys, after); err != nil {
				return false, err
			}
		}
		var e journal.Entry
		stored, err := entryOf(row, &e)
		if err != nil {
			return false, err
		}
		if e.Seq != after+uint64(len(list))+1 {
			return false, errMissing
		}
		var ok bool
		if c.column, ok = chain.ParseColumn(stored); link != nil && (!ok || !link.Next(&e, &c.column)) {
			return false, chain.ErrMAC
		}
		list = append(list, e)
		return len(list) < limit, nil
	}, int64(after))
	return list, err
}

// errIf returns err if a condition holds.
func errIf(holds bool, err error) error {
	if holds {
		return err
	}
	return nil
}

// linkAfter returns what the entry after a position is chained to; nil without keys. Where the entry at the position is
// not there any more, the segment that ends with it stands in for it.
func (c *entryReader) linkAfter(keys *chain.Secret, after uint64) (*chain.Link, error) {
	if keys == nil {
		return nil, nil
	}
	if c.chain == nil {
		c.chain = chain.New(keys)
	}
	l := &chain.Link{Chain: c.chain}
	if after == 0 {
		l.Last = c.chain.First()
		return l, nil
	}
	switch row, err := c.row(macOf, int64(after)); {
	case err != nil:
		return nil, err
	case row != nil:
		stored, _ := row[0].([]byte)
		column, ok := chain.ParseColumn(stored)
		l.Last = column.MAC
		return l, errIf(!ok, chain.ErrMAC)
	}
	row, err := c.row(segmentOf, int64(after))
	if err != nil || row == nil {
		return nil, errors.Join(err, errIf(row == nil, errMissing))
	}
	data, _ := row[0].([]byte)
	mac, _ := row[1].([]byte)
	segment, ok := c.chain.ReadSegment(after, data, mac)
	l.Last = segment.Tail
	return l, errIf(!ok, chain.ErrMAC)
}

// entryOf reads the entry of a row, and returns its column mac.
func entryOf(row []driver.Value, e *journal.Entry) (mac []byte, err error) {
	seq, numbered := row[0].(int64)
	mark, marked := row[7].(int64)
	if !numbered || !marked || mark < 0 || mark > math.MaxUint8 {
		return nil, errUnfit
	}
	e.Seq, e.Mark = uint64(seq), journal.Mark(mark)
	switch at := row[1].(type) {
	case nil:
	case int64:
		e.At = time.Unix(0, at).UTC()
	default:
		return nil, errUnfit
	}
	for i, to := range [...]*string{&e.Kind, &e.Session, &e.Run, &e.Call, &e.Tool} {
		text, ok := row[2+i].(string)
		if !ok {
			return nil, errUnfit
		}
		*to = text
	}
	var isLeaf, isMAC bool
	e.Leaf, isLeaf = row[8].([]byte)
	mac, isMAC = row[9].([]byte)
	if !isLeaf || !isMAC {
		return nil, errUnfit
	}
	if row[10] != nil {
		var ok bool
		if e.Private, ok = row[11].([]byte); !ok {
			return nil, errUnfit
		}
		if e.Private == nil {
			e.Private = []byte{} // it is there
		}
	}
	return mac, nil
}

// A walkStep is where the walk back through a session is.
type walkStep struct {
	seq    uint64               // the next entry; 0: there is none
	link   [chain.LinkSize]byte // how its authenticator begins, as the entry after it says
	linked bool                 // there is such an entry
}

// back returns at most limit entries of a session, from that of a step on, the last one first, and goes to the step after
// them. With keys it verifies each as it is, and as the one that the entry after it follows. With an error the step is
// at the entry that it is about.
func (r *reader) back(ctx context.Context, session string, at *walkStep, limit int) (list []journal.Entry, err error) {
	err = r.pool.with(ctx, func(c *entryReader) error {
		for at.seq > 0 && len(list) < limit {
			e, next, err := c.step(ctx, r.secret, at)
			if err == nil && e.Session != session {
				err = chain.ErrMAC
			}
			if err != nil {
				return err
			}
			list, *at = append(list, *e), next
		}
		return nil
	})
	return list, err
}

// stepAt returns the entry at a position, and the step to the one that it follows in its session.
func (r *reader) stepAt(ctx context.Context, seq uint64) (e *journal.Entry, next walkStep, err error) {
	err = r.pool.with(ctx, func(c *entryReader) (err error) {
		e, next, err = c.step(ctx, r.secret, &walkStep{seq: seq})
		return err
	})
	return e, next, err
}

// step reads the entry of a step, and returns the next one.
func (c *entryReader) step(ctx context.Context, keys *chain.Secret, at *walkStep) (*journal.Entry, walkStep, error) {
	list, err := c.read(ctx, keys, at.seq-1, 1)
	switch {
	case err != nil:
		return nil, walkStep{}, err
	case len(list) == 0:
		return nil, walkStep{}, errMissing
	}
	back := c.column.Back
	switch {
	case keys != nil && at.linked && chain.LinkOf(c.column.MAC) != at.link, back.Distance >= at.seq:
		return nil, walkStep{}, chain.ErrMAC
	case back.Distance == 0:
		return &list[0], walkStep{}, nil
	}
	return &list[0], walkStep{at.seq - back.Distance, back.Link, true}, nil
}
