package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

const (
	columns = 10 // of the table entry

	// rowsAtOnce bounds the rows of one INSERT. The driver looks for each argument
	// in the list of all of them, so that much longer statements are slower.
	rowsAtOnce = 8
)

// Append stores entries, all of them or none. See [journal.Journal].
func (s *Store) Append(ctx context.Context, entries []journal.Entry) error {
	if len(entries) == 0 {
		return ctx.Err()
	}
	private, err := check(entries)
	if err != nil {
		return err
	}
	asking := requestsOf(entries)
	o := &op{
		do: func(w *writer) error {
			if err := w.insert(entries, private); err != nil {
				return err
			}
			return w.indexRequests(asking)
		},
		single: len(entries) <= rowsAtOnce && !private && len(asking) == 0,
		rows:   len(entries),
	}
	if err := s.write(ctx, o); err != nil {
		return fmt.Errorf("append entries %d to %d to %q: %w", entries[0].Seq, entries[len(entries)-1].Seq, s.path, err)
	}
	return nil
}

// check refuses what cannot be stored as it is, and says whether any is private.
func check(entries []journal.Entry) (private bool, err error) {
	for i := range entries {
		e := &entries[i]
		if e.Seq != entries[0].Seq+uint64(i) {
			return false, fmt.Errorf("entry %d after entry %d: %w", e.Seq, entries[0].Seq+uint64(i)-1, journal.ErrConflict)
		}
		if !e.At.IsZero() && !time.Unix(0, e.At.UnixNano()).Equal(e.At) {
			return false, fmt.Errorf("entry %d: the time %v has no count of nanoseconds", e.Seq, e.At)
		}
		private = private || e.Private != nil
	}
	return private, nil
}

// insert stores entries. Its first statement is the only one that can be refused.
func (w *writer) insert(entries []journal.Entry, private bool) error {
	for rest := entries; len(rest) > 0; {
		n := min(rowsAtOnce, len(rest))
		if err := w.rows(rest[:n], n < len(rest)); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if private {
		for i := range entries {
			if e := &entries[i]; e.Private != nil {
				if _, err := w.c.exec("INSERT INTO private VALUES (?, ?, ?)", int64(e.Seq), e.Session, e.Private); err != nil {
					return err
				}
			}
		}
	}
	w.due += len(entries)
	if w.due < indexEvery {
		return nil
	}
	return w.index(false)
}

// rows inserts a few entries by one statement, which does nothing unless they
// continue the journal and the store is still ours. More says that entries of the
// same Append follow.
func (w *writer) rows(entries []journal.Entry, more bool) error {
	if entries[0].Seq != w.head+1 {
		return w.refused(int64(entries[0].Seq))
	}
	args := make([]driver.Value, 0, len(entries)*columns+2)
	macs := make([]byte, 0, len(entries)*chain.MaxColumn)
	tail := w.tail
	for i := range entries {
		e := &entries[i]
		flags := byte(chain.FlagMore)
		if i == len(entries)-1 && !more {
			flags = 0
		}
		end, err := w.endOf(e.Session)
		if err != nil {
			return err
		}
		column := chain.Column{Back: end.back(e.Seq)}
		column.Flags, column.MAC = w.chain.Entry(tail, column.Back, e, flags)
		tail = column.MAC
		w.ends.add(end, e, tail, w.rooted)
		begin := len(macs)
		macs = column.Append(macs)
		leaf := e.Leaf
		if leaf == nil {
			leaf = []byte{} // NULL is refused
		}
		args = append(args, int64(e.Seq), nanos(e.At), e.Kind, e.Session, e.Run, e.Call, e.Tool, int64(e.Mark), leaf, macs[begin:len(macs):len(macs)])
	}
	first := int64(entries[0].Seq)
	n, err := w.c.exec(insertEntries[len(entries)-1], append(args, w.epoch, first-1)...)
	if err != nil {
		return err
	}
	if n != int64(len(entries)) {
		return w.refused(first)
	}
	w.head, w.tail = entries[len(entries)-1].Seq, tail
	return nil
}

// refused says why entries were not inserted.
func (w *writer) refused(first int64) error {
	if err := w.owned(); err != nil {
		return err
	}
	head, err := w.c.number("SELECT coalesce(max(seq), 0) FROM entry")
	if err != nil {
		return err
	}
	return refusal{fmt.Errorf("entry %d where %d is next: %w", first, head+1, journal.ErrConflict)}
}

// insertEntries has the statements that insert one row and more.
var insertEntries = func() (list [rowsAtOnce]string) {
	row := "(?" + strings.Repeat(",?", columns-1) + ")"
	for i := range list {
		list[i] = "INSERT INTO entry SELECT * FROM (VALUES " + row + strings.Repeat(","+row, i) +
			") WHERE (SELECT epoch FROM owner) = ? AND (SELECT coalesce(max(seq), 0) FROM entry) = ?"
	}
	return list
}()

// nanos is how a time is stored.
func nanos(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// index brings the tables call and session up to date, and, when it is due or all is wanted, the tree of
// the sessions.
func (w *writer) index(all bool) error {
	for _, query := range []string{indexCalls, indexSessions, "UPDATE owner SET indexed = (SELECT coalesce(max(seq), 0) FROM entry)"} {
		if _, err := w.c.exec(query); err != nil {
			return err
		}
	}
	w.due = 0
	if w.ends.changed >= rootEverySessions || w.head-w.rooted >= rootEvery || all && w.head > w.rooted {
		return w.plant()
	}
	return nil
}

// indexSessions notes how far each session goes.
const indexSessions = `
INSERT INTO session SELECT session, max(seq) FROM entry WHERE seq > (SELECT indexed FROM owner) GROUP BY session
ON CONFLICT (id) DO UPDATE SET last = excluded.last`

// indexCalls adds to the table call what is not in it yet, as the view call_moving does.
const indexCalls = `
INSERT INTO call (first, session, call, run, tool, last, kind, opened, started, ended, opened_at, ended_at, entries, undoing, unknown)
SELECT first, session, call, run, tool, last, kind, opened, started, ended, opened_at, ended_at, entries, undoing, unknown
FROM call_news WHERE true
ON CONFLICT (session, call) DO UPDATE SET
  last = excluded.last, kind = excluded.kind,
  run = coalesce(nullif(run, ''), excluded.run),
  tool = coalesce(nullif(tool, ''), excluded.tool),
  opened = coalesce(excluded.opened, opened), opened_at = coalesce(excluded.opened_at, opened_at),
  started = coalesce(started, excluded.started),
  ended = CASE WHEN excluded.opened IS NULL THEN coalesce(excluded.ended, ended) ELSE excluded.ended END,
  ended_at = CASE WHEN excluded.opened IS NULL THEN coalesce(excluded.ended_at, ended_at) ELSE excluded.ended_at END,
  entries = entries || ',' || excluded.entries,
  undoing = coalesce(excluded.undoing, undoing), unknown = coalesce(excluded.unknown, unknown)`
