package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// sweepEvery is how many archived entries are deleted in one transaction, so that appends wait for none that is long.
const sweepEvery = 4096

// ErrPinned says that an archive would take entries that something open needs.
var ErrPinned = errors.New("something that is open needs entries that were to be archived")

// Archive makes the entries of a segment leave the store, which from then on begins after them: reads of them are
// refused with a [*journal.ArchivedError]. The caller has written the file and proved that it has these entries.
// The segment begins where the last one has ended, and ends with an entry of which a checkpoint is stored, before the last
// one. Calls, undos and sessions in which something is open must begin after it, otherwise the error is [ErrPinned].
//
// After a crash the store has either the entries and no such segment, or the segment. The rows are
// deleted thereafter, many at a time, and what a crash leaves of them by the next Archive or [Store.Sweep]. The file
// keeps its size: what is appended later uses the room.
func (s *Store) Archive(ctx context.Context, seg journal.Segment) error {
	var err error
	if why := s.doubt.Load(); why != nil {
		err = fmt.Errorf("nothing more is archived until the store is opened again: %w", *why)
	}
	if err == nil {
		err = s.writeHead() // so that it is not below the lower end
	}
	if err == nil {
		err = s.change(ctx, func(w *writer) error { return w.archive(&seg) })
	}
	if err == nil {
		err = s.writeHead()
	}
	if err == nil {
		err = s.Sweep(ctx)
	}
	if err != nil {
		return fmt.Errorf("archive entries %d to %d of %q: %w", seg.First, seg.Last, s.path, err)
	}
	return nil
}

// Doubt makes [Store.Archive] fail until the store is opened again, for an error of the disk with the segments after which what is seen
// there may not be on it.
func (s *Store) Doubt(err error) { s.doubt.CompareAndSwap(nil, &err) }

// archive moves the lower end, inside a transaction.
func (w *writer) archive(seg *journal.Segment) error {
	switch {
	case seg.First != w.archived+1 || seg.Last < seg.First:
		return refusal{fmt.Errorf("entry %d is the first that is not archived: %w", w.archived+1, journal.ErrConflict)}
	case seg.Last >= w.head:
		return refusal{fmt.Errorf("the store has %d entries, of which the last stays", w.head)}
	}
	tail, err := w.signedTail(seg.Last)
	if err != nil {
		return err
	}
	if err := w.index(true); err != nil { // no row that is deleted is needed for the tree or for the table call
		return err
	}
	if err := w.pinned(seg.Last); err != nil {
		return err
	}
	data, mac, err := w.chain.Row(&chain.Segment{First: seg.First, Last: seg.Last, File: seg.File, Digest: seg.Digest, Tail: tail})
	if err != nil {
		return refusal{err}
	}
	if _, err := w.c.exec("INSERT INTO segment VALUES (?, ?, ?)", int64(seg.Last), data, mac); err != nil {
		return err
	}
	w.archived = seg.Last
	return nil
}

// signedTail returns the authenticator of an entry of which a checkpoint is stored.
func (w *writer) signedTail(seq uint64) (tail chain.MAC, err error) {
	row, err := w.c.row("SELECT note, tail, mac FROM checkpoint WHERE size = ?", int64(seq))
	if err != nil {
		return tail, err
	}
	if len(row) != 3 {
		return tail, refusal{fmt.Errorf("there is no checkpoint of %d entries", seq)}
	}
	var parts [3][]byte
	for i := range parts {
		parts[i], _ = row[i].([]byte)
	}
	if tail, err = w.tailAt(seq); err != nil {
		return tail, err
	}
	if !w.chain.Holds(seq, parts[0], parts[1], parts[2]) || !bytes.Equal(parts[1], tail[:]) {
		return tail, refusal{fmt.Errorf("%w: the checkpoint of %d entries is not authentic", ErrForged, seq)}
	}
	return tail, nil
}

// pinned refuses a lower end above the beginning of something open.
func (w *writer) pinned(last uint64) error {
	for _, query := range []string{
		"SELECT coalesce(min(first), 0) FROM call WHERE opened IS NOT NULL AND ended IS NULL AND first <= ?",
		"SELECT coalesce(min(first), 0) FROM call WHERE undoing > 0 AND first <= ?",
	} {
		first, err := w.c.number(query, int64(last))
		if err != nil {
			return err
		}
		if first > 0 {
			return refusal{fmt.Errorf("%w: a call that has not ended begins at entry %d", ErrPinned, first)}
		}
	}
	err := chain.EachLeaf(nodes{w.c}, w.root, true, func(l *chain.Leaf) error {
		if l.Last <= last {
			return refusal{fmt.Errorf("%w: entry %d is the last one of a session in which a call has not ended", ErrPinned, l.Last)}
		}
		return nil
	})
	if errors.Is(err, chain.ErrForged) {
		return refusal{fmt.Errorf("the sessions of the store %q: %w: %w", w.path, ErrForged, err)}
	}
	return err
}

// Sweep deletes the rows of archived entries that a crash has left. It does nothing where there are none.
func (s *Store) Sweep(ctx context.Context) error {
	for more := true; more; {
		err := s.change(ctx, func(w *writer) (err error) {
			more, err = w.sweep()
			return err
		})
		if err != nil {
			return fmt.Errorf("delete archived entries of %q: %w", s.path, err)
		}
	}
	return nil
}

// sweep deletes some rows, and what belongs to them, but where grants are that live (SEMANTICS 6.14.9). It reports whether there are more.
func (w *writer) sweep() (more bool, err error) {
	first, err := w.c.number("SELECT coalesce(min(seq), 0) FROM entry")
	if err != nil || first == 0 || uint64(first) > w.archived {
		return false, err
	}
	last := min(w.archived, uint64(first)+sweepEvery-1)
	for _, one := range []struct {
		query string
		args  []driver.Value
	}{
		{"DELETE FROM private WHERE seq <= ?", []driver.Value{int64(last)}},
		{"DELETE FROM call WHERE first <= ? AND last <= ?", []driver.Value{int64(last), int64(w.archived)}},
		{"DELETE FROM checkpoint WHERE size <= ? AND size < ?", []driver.Value{int64(last), int64(w.archived)}},
		{"DELETE FROM request WHERE asked <= ? AND id <> '' AND (live IS NULL OR live = 0 OR until < ?)", []driver.Value{int64(last), time.Now().UnixNano()}},
		{"DELETE FROM entry WHERE seq <= ?", []driver.Value{int64(last)}},
	} {
		if _, err := w.c.exec(one.query, one.args...); err != nil {
			return false, err
		}
	}
	return last < w.archived, nil
}
