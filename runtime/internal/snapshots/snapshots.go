// Package snapshots writes snapshots of sessions into the journal of an executor, so that a session can be read
// without all of its entries.
//
// A snapshot is made by reading: of the latest one and what is behind it in the journal, as history.ReadSession
// does. That takes about 20 microseconds an entry, which is too much to do while calls wait: it is for
// sessions that no goroutine uses at present. Ended calls go onto pages, each once, so that a snapshot is as large as
// what is open.
package snapshots

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Page is how many ended calls make a page at least. Fewer are in the snapshot itself.
const Page = 256

// rested is how many entries of a session are read again, rather than replaced by a snapshot.
const rested = 128

// checkpointed is how many entries may be behind the latest checkpoint, which is in a snapshot of what belongs to no
// session.
const checkpointed = 10_000

// A Config says how a Writer reaches the rest of its executor.
type Config struct {
	Sched   *sched.Scheduler
	Journal journal.Journal
	Engine  *rules.Engine
	Log     *commitlog.Writer
	Key     func() []byte // of the books of requests

	Holdings *holdings.Ledger // for the snapshots of what belongs to no session; nil: they have none
}

// A Writer writes snapshots. It is safe for concurrent use.
type Writer struct{ cfg Config }

// New returns a Writer that has written nothing.
func New(cfg Config) *Writer { return &Writer{cfg} }

// Write writes a snapshot of a session, empty for what belongs to none, and returns when it is durable. At least
// so many ended calls of which no page tells make a page, which is written before it; see [Page].
//
// An entry that is added meanwhile is behind the snapshot, wherever it lies. The calls of the session go on.
func (w *Writer) Write(ctx context.Context, session string, least int) error {
	return w.make(ctx, session, least, nil)
}

// Above is Write for an archive: the snapshot needs no entry of calls that ended up to a position, and calls that ended
// before a time are forgotten. See [history.Single.Above].
func (w *Writer) Above(ctx context.Context, session string, last uint64, before time.Time) error {
	return w.make(ctx, session, Page, func(s *history.Single) { s.Above(last, before) })
}

// Record records what the owner of the journal did, of no session, and returns when it is durable.
func (w *Writer) Record(r *journal.Record) error {
	r.At = w.cfg.Sched.Now().Round(0).UTC()
	return w.cfg.Log.Flush(w.cfg.Log.Add(r, nil))
}

// make writes a snapshot of what change makes of a session; nil: of what it is.
func (w *Writer) make(ctx context.Context, session string, least int, change func(*history.Single)) error {
	s, err := w.read(ctx, session)
	if err != nil {
		return err
	}
	if change != nil {
		change(s)
	}
	return w.write(s, least)
}

// Checkpoint returns when all that was added before is durable, and when a start has to read few entries to find what
// sessions have that it does not load.
func (w *Writer) Checkpoint(ctx context.Context) error {
	if w.cfg.Holdings.Behind() <= checkpointed {
		return w.cfg.Log.FlushAll()
	}
	return w.Write(ctx, "", 1)
}

// Rest is Write for a session that leaves memory, with all of its entries durable. It writes nothing where few entries
// are behind the latest snapshot.
func (w *Writer) Rest(ctx context.Context, session string) error {
	w.cfg.Log.SettleOf(session)
	if err := w.Checkpoint(ctx); err != nil {
		return err
	}
	s, err := w.read(ctx, session)
	if err != nil || s.Tail < rested {
		return err
	}
	return w.write(s, Page)
}

// read reads a session.
func (w *Writer) read(ctx context.Context, session string) (s *history.Single, err error) {
	err = usercode.Call(func() (err error) {
		s, err = history.ReadSession(ctx, w.cfg.Journal, w.cfg.Engine, w.cfg.Key(), session)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("no snapshot of session %q was made: %w", session, err)
	}
	return s, nil
}

// write writes a snapshot of s.
func (w *Writer) write(s *history.Single, least int) error {
	now := w.cfg.Sched.Now().Round(0).UTC()
	var page uint64
	if r := s.Page(now, least); r != nil {
		page = w.cfg.Log.Add(r, nil)
	}
	r := s.Snapshot(now, page)
	if s.ID != "" || w.cfg.Holdings == nil {
		return w.cfg.Log.Flush(w.cfg.Log.Add(r, nil))
	}
	others := w.cfg.Holdings.Checkpoint(now)
	r.Snapshot.Others = others
	err := w.cfg.Log.Flush(w.cfg.Log.Add(r, nil))
	if err == nil {
		w.cfg.Holdings.Saved(others)
	}
	return err
}
