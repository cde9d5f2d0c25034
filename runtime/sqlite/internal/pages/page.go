package pages

import (
	"context"
	"fmt"
	"math"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite/internal/chain"
)

// read returns the entries after a position up to the first that is missing, or that
// does not verify when there are keys; with an error those before it. It is one look
// at one state of the store: while the first statement is not at its end the second
// sees what that does.
func (s *conn) read(ctx context.Context, keys *chain.Secret, after uint64, limit int) (list []journal.Entry, err error) {
	defer func() {
		sqlite3.Xsqlite3_reset(s.tls, s.entries)
		sqlite3.Xsqlite3_reset(s.tls, s.private)
	}()
	more, err := s.start(s.entries, after)
	if err != nil || !more {
		return nil, err
	}
	gone, err := s.one(&s.archived, archivedTo, after, func(uintptr) error { return nil })
	switch {
	case err != nil:
		return nil, err
	case gone:
		return nil, ErrArchived
	}
	link, err := s.linkAfter(keys, after)
	if err != nil {
		return nil, err
	}
	p := privates{s: s}
	if err := p.at(s.start(s.private, after)); err != nil {
		return nil, err
	}
	list = make([]journal.Entry, 0, min(limit, mostAhead))
	room := newChunk(limit)
	for more {
		if len(list)%rowsPerLook == 0 && ctx.Err() != nil {
			return list, ctx.Err()
		}
		var e journal.Entry
		if err := s.entry(&e, &room); err != nil {
			return list, err
		}
		if e.Seq != after+uint64(len(list))+1 {
			return list, ErrMissing
		}
		if err := s.verify(link, &e); err != nil {
			return list, err
		}
		if err := p.take(&e, &room); err != nil {
			return list, err
		}
		if list = append(list, e); len(list) == limit {
			return list, nil
		}
		if more, err = s.next(s.entries); err != nil {
			return list, err
		}
	}
	return list, nil
}

const (
	mostAhead   = 1024 // entries for which there is room before they are read
	rowsPerLook = 64   // rows between two looks at the context
)

// entry reads a row.
func (s *conn) entry(e *journal.Entry, room *chunk) error {
	seq, _, err := s.number(s.entries, 0)
	if err != nil {
		return err
	}
	at, none, err := s.number(s.entries, 1)
	if err != nil {
		return err
	}
	for i, to := range [...]*string{&e.Kind, &e.Session, &e.Run, &e.Call, &e.Tool} {
		text, err := s.bytes(s.entries, int32(i)+2, sqlite3.SQLITE_TEXT)
		if err != nil {
			return err
		}
		*to = s.texts.get(i, text)
	}
	mark, absent, err := s.number(s.entries, 7)
	if err == nil && (absent || mark < 0 || mark > math.MaxUint8) {
		err = &Fault{sqlite3.SQLITE_CORRUPT, fmt.Sprintf("the column \"mark\" holds %d", mark)}
	}
	if err != nil {
		return err
	}
	leaf, err := s.bytes(s.entries, 8, sqlite3.SQLITE_BLOB)
	if err != nil {
		return err
	}
	e.Seq, e.Mark, e.Leaf = uint64(seq), journal.Mark(mark), room.keep(leaf)
	if !none {
		e.At = time.Unix(0, at).UTC()
	}
	return nil
}

// number returns a column that holds an integer, or nothing.
func (s *conn) number(stmt uintptr, col int32) (n int64, null bool, err error) {
	v := sqlite3.Xsqlite3_column_value(s.tls, stmt, col)
	switch kind := sqlite3.Xsqlite3_value_type(s.tls, v); kind {
	case sqlite3.SQLITE_INTEGER:
		return sqlite3.Xsqlite3_value_int64(s.tls, v), false, nil
	case sqlite3.SQLITE_NULL:
		return 0, true, nil
	default:
		return 0, false, s.unfit(stmt, col, kind)
	}
}

// bytes returns a column of a type, text or a blob. The bytes are SQLite's, until
// the next step.
func (s *conn) bytes(stmt uintptr, col, kind int32) ([]byte, error) {
	v := sqlite3.Xsqlite3_column_value(s.tls, stmt, col)
	if t := sqlite3.Xsqlite3_value_type(s.tls, v); t != kind {
		return nil, s.unfit(stmt, col, t)
	}
	p := sqlite3.Xsqlite3_value_blob(s.tls, v)
	n := sqlite3.Xsqlite3_value_bytes(s.tls, v)
	if n == 0 {
		return nil, nil
	}
	if p == 0 {
		return nil, s.fault(sqlite3.SQLITE_NOMEM)
	}
	return libc.GoBytes(p, int(n)), nil
}

// unfit is the error of a value that SQLite has not written: the tables are strict.
func (s *conn) unfit(stmt uintptr, col, kind int32) error {
	name := libc.GoString(sqlite3.Xsqlite3_column_name(s.tls, stmt, col))
	return &Fault{sqlite3.SQLITE_CORRUPT, fmt.Sprintf("the column %q holds a value of a type that it cannot hold (%d)", name, kind)}
}

// privates iterates over what is private of a page of entries, in step with it.
type privates struct {
	s    *conn
	next uint64 // the entry that it is of; 0: no more
}

// at reads which entry the row is of.
func (p *privates) at(more bool, err error) error {
	p.next = 0
	if more && err == nil {
		var seq int64
		seq, _, err = p.s.number(p.s.private, 0)
		p.next = uint64(seq)
	}
	return err
}

// take gives an entry what is private of it, if anything is, and goes on to the next.
func (p *privates) take(e *journal.Entry, room *chunk) error {
	switch {
	case p.next == 0 || p.next > e.Seq:
		return nil
	case p.next < e.Seq:
		return &Fault{sqlite3.SQLITE_CORRUPT, fmt.Sprintf("what is private is out of order at %d", p.next)}
	}
	data, err := p.s.bytes(p.s.private, 1, sqlite3.SQLITE_BLOB)
	if err != nil {
		return err
	}
	if e.Private = room.keep(data); e.Private == nil {
		e.Private = []byte{} // it is there
	}
	return p.at(p.s.next(p.s.private))
}

// A chunk is memory for the bytes of several entries. It is small enough that an
// entry which is kept for long does not keep much else.
type chunk struct {
	free []byte
	size int // of a whole one
}

// newChunk returns the memory for a page of entries.
func newChunk(entries int) chunk {
	const most, each = 32, 512
	return chunk{size: min(entries, most) * each}
}

// keep returns a copy, to which nothing can be appended without another one; of
// nothing: nil. What is large has memory of its own.
func (c *chunk) keep(b []byte) []byte {
	n := len(b)
	switch {
	case n == 0:
		return nil
	case n > c.size/8:
		return append(make([]byte, 0, n), b...)
	case n > len(c.free):
		c.free = make([]byte, c.size)
	}
	own := c.free[:n:n]
	c.free = c.free[n:]
	copy(own, b)
	return own
}

// texts has the texts of the entry before, of which most are those of the next one
// too, and the kinds, of which there are few.
type texts struct {
	last  [5]string
	kinds map[string]string
}

const mostKinds = 64

// get returns a text of a column as a string.
func (t *texts) get(col int, b []byte) string {
	if t.last[col] == string(b) {
		return t.last[col]
	}
	if col != 0 {
		t.last[col] = string(b)
		return t.last[col]
	}
	kind, ok := t.kinds[string(b)]
	if !ok {
		if t.kinds == nil || len(t.kinds) >= mostKinds {
			t.kinds = make(map[string]string, mostKinds)
		}
		kind = string(b)
		t.kinds[kind] = kind
	}
	t.last[0] = kind
	return kind
}
