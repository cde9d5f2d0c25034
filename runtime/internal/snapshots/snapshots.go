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
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Page is how many ended calls make a page at least. Fewer are in the snapshot itself.
const Page = 256

// A Config says how a Writer reaches the rest of its executor.
type Config struct {
	Sched   *sched.Scheduler
	Journal journal.Journal
	Engine  *rules.Engine
	Log     *commitlog.Writer
	Key     func() []byte // of the books of requests
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
	return w.write(ctx, session, least, func(*history.Single) {})
}

// Above is Write for an archive: the snapshot needs no entry of calls that ended up to a position, and calls that ended
// before a time are forgotten. See [history.Single.Above].
func (w *Writer) Above(ctx context.Context, session string, last uint64, before time.Time) error {
	return w.write(ctx, session, Page, func(s *history.Single) { s.Above(last, before) })
}

// Record records what the owner of the journal did, of no session, and returns when it is durable.
func (w *Writer) Record(r *journal.Record) error {
	r.At = w.cfg.Sched.Now().Round(0).UTC()
	return w.cfg.Log.Flush(w.cfg.Log.Add(r, nil))
}

// write writes a snapshot of what change makes of a session.
func (w *Writer) write(ctx context.Context, session string, least int, change func(*history.Single)) error {
	s, err := history.ReadSession(ctx, w.cfg.Journal, w.cfg.Engine, w.cfg.Key(), session)
	if err != nil {
		return fmt.Errorf("no snapshot of session %q was made: %w", session, err)
	}
	change(s)
	now := w.cfg.Sched.Now().Round(0).UTC()
	var page uint64
	if r := s.Page(now, least); r != nil {
		page = w.cfg.Log.Add(r, nil)
	}
	return w.cfg.Log.Flush(w.cfg.Log.Add(s.Snapshot(now, page), nil))
}
