package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// An IndexCheck compares the indexes of calls and requests with the entries: which entries they say are of a call, and which
// tell of a request. It adds a keyed hash of each statement on both sides, so that it takes entries in any order and
// keeps a bit of each. Its methods are safe for concurrent use.
type IndexCheck struct {
	r     *Reader
	bound uint64 // the entries up to this one are compared: the index covers them
	seeds [2]maphash.Seed

	mu   sync.Mutex
	seen []uint64 // bits of positions
	sums []sum    // of the parts
	text []byte   // room for a statement
}

// part is how many entries have a sum of their own, so that the comparison can begin behind any of them.
const part = 1 << 12

// A sum is of two hashes of each statement.
type sum [2]uint64

// CheckIndex begins a comparison of the entries up to the last one that the index covers.
func (r *Reader) CheckIndex(ctx context.Context) (*IndexCheck, error) {
	c := &IndexCheck{r: r, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	err := r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&c.bound) }, "SELECT indexed FROM owner")
	c.seen, c.sums = make([]uint64, c.bound/64+1), make([]sum, c.bound/part+1)
	return c, err
}

// Note adds entries that were read. One that was added before is skipped.
func (c *IndexCheck) Note(list []journal.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range list {
		e := &list[i]
		bit := uint64(1) << (e.Seq % 64)
		if e.Seq > c.bound || c.seen[e.Seq/64]&bit != 0 {
			continue
		}
		c.seen[e.Seq/64] |= bit
		if e.Call != "" {
			add(c, c.sums, e.Seq, "call", e.Session, e.Call, time.Time{})
		}
		for _, change := range journal.RequestChanges(e) {
			if change.What != journal.GrantUsed {
				c.step(c.sums, e.Seq, e.Session, &change)
			}
		}
	}
}

// Watch returns a reader of which Note adds the entries.
func (c *IndexCheck) Watch(from EntryReader) EntryReader { return watchedReader{from, c} }

// An EntryReader reads entries, as a journal does.
type EntryReader interface {
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
}

type watchedReader struct {
	EntryReader
	c *IndexCheck
}

// Read reads the journal.
func (w watchedReader) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := w.EntryReader.Read(ctx, after, limit)
	w.c.Note(list)
	return list, err
}

// add adds a statement about an entry to sums. The lock is held.
func add[T string | []byte](c *IndexCheck, to []sum, seq uint64, what string, session, id T, until time.Time) {
	text := binary.AppendUvarint(c.text[:0], seq)
	text = binary.AppendVarint(text, instant(until))
	text = append(binary.AppendUvarint(text, uint64(len(what))), what...)
	text = append(binary.AppendUvarint(text, uint64(len(session))), session...)
	c.text = append(text, id...)
	s := &to[seq/part]
	for i := range s {
		s[i] += maphash.Bytes(c.seeds[i], c.text)
	}
}

// step adds what an entry changes of a request.
func (c *IndexCheck) step(to []sum, seq uint64, session string, change *journal.RequestChange) {
	what := string(change.What)
	if change.What == journal.RequestAsked {
		what += change.Call
	}
	add(c, to, seq, what, session, change.ID, change.Until)
}

// from returns the part of the entries from which on all were added.
func (c *IndexCheck) from(after uint64) uint64 {
	first := c.bound + 1
	for first > after+1 && c.seen[(first-1)/64]&(1<<((first-1)%64)) != 0 {
		first--
	}
	if first <= 1 {
		return 0
	}
	return (first + part - 1) / part // a part begins with a multiple
}

// Compare compares the index with what was added, of entries after a position. Where not all of them were added it begins behind
// the last that was not. The error is an [*IndexError] when they differ.
func (c *IndexCheck) Compare(ctx context.Context, after uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.steady(ctx, func() error { return c.compare(ctx, after) })
}

// compare is Compare for a store in which nothing is archived meanwhile. The lock is held.
func (c *IndexCheck) compare(ctx context.Context, after uint64) error {
	var archived *journal.ArchivedError
	if _, err := c.r.Read(ctx, 0, 1); errors.As(err, &archived) { // segments may have been read: the index has left those entries
		after = max(after, archived.Last)
	}
	indexed := make([]sum, len(c.sums))
	if err := c.calls(ctx, indexed); err != nil {
		return err
	}
	if err := c.requests(ctx, indexed); err != nil {
		return err
	}
	for at := c.from(after); at <= c.bound/part; at++ {
		if indexed[at] != c.sums[at] {
			first, last := max(at*part, 1), min((at+1)*part-1, c.bound)
			return c.wrong(first, fmt.Sprintf("the calls or requests that it has of the entries %d to %d are not those of the entries", first, last))
		}
	}
	return nil
}

func (c *IndexCheck) wrong(seq uint64, what string) error { return &IndexError{c.r.path, seq, what} }

// calls adds what the index says of calls.
func (c *IndexCheck) calls(ctx context.Context, to []sum) error {
	var first uint64
	var session, call, entries []byte
	return c.r.rows(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(&first, (*sql.RawBytes)(&session), (*sql.RawBytes)(&call), (*sql.RawBytes)(&entries)); err != nil {
			return err
		}
		for text := range bytes.SplitSeq(entries, []byte{','}) {
			seq, err := strconv.ParseUint(string(text), 10, 63)
			if err != nil {
				return c.wrong(first, "the entries of a call are no list of positions")
			}
			if seq <= c.bound {
				add(c, to, seq, "call", session, call, time.Time{})
			}
		}
		return nil
	}, "SELECT first, session, call, entries FROM call")
}

// requests adds what the index says of requests. What a row says besides follows from its entries.
func (c *IndexCheck) requests(ctx context.Context, to []sum) error {
	return c.r.rows(ctx, func(rows *sql.Rows) error {
		var open int64
		var live sql.NullInt64
		var asked uint64
		q, err := scanRequest(rows, &asked, &open, &live)
		if err != nil {
			return c.wrong(asked, err.Error())
		}
		given, alive := q.Granted()
		if (open == 1) != q.Open() || live.Valid != given || (live.Int64 == 1) != alive || asked != q.Asked() {
			return c.wrong(asked, fmt.Sprintf("request %q does not stand as its own entries say", q.ID))
		}
		for _, s := range q.Steps {
			change := journal.RequestChange{ID: q.ID, Call: q.Call, What: s.What}
			switch s.What {
			case journal.RequestAsked:
				change.Until = q.Expires
			case journal.RequestGranted:
				change.Until = q.Until
			}
			if s.Seq <= c.bound {
				c.step(to, s.Seq, q.Session, &change)
			}
		}
		return nil
	}, "SELECT "+requestColumns+", open, live FROM request")
}
