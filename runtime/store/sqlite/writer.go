package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

const (
	// indexEvery is how many entries are appended before the table call is brought
	// up to date. Those calls are on other pages, and every page that a transaction
	// touches costs a tenth of it. A query for calls reads the entries after these, too. With 128 a durable call takes 8 %
	// more CPU (decision 0060).
	indexEvery = 512

	// checkpointEvery is how many pages are written before the write-ahead log is moved
	// into the file and begins anew, as with SQLite. A log that grows makes every fsync
	// dearer, because the file system has to record where it is, too.
	checkpointEvery = 1000
)

// A writer makes all changes. A caller that comes while a transaction is being written
// queues its change and waits for the lock; the first to get the lock makes all queued
// changes in one transaction. The writer has no goroutine of its own: for one caller
// the two hand-overs to it cost a tenth of an append.
type writer struct {
	mu            sync.Mutex // held while writing; everything below but the queue
	c             *conn
	epoch         int64
	head          uint64
	tail          chain.MAC // the authenticator of the last entry
	rooted        uint64    // the entries that the tree of the sessions covers
	root          chain.Root
	archived      uint64 // entries that are in segments
	ends          ends   // of the sessions
	back          func(ctx context.Context, session string, at walkStep, f func(*journal.Entry) bool) error
	chain         *chain.Chain
	frames, moved int64 // of the write-ahead log, at the last checkpoint
	lost          error // why nothing may be written any more
	closed        bool
	due           int // entries since the calls were indexed

	path string
	same []func() error // of the files that are written

	qmu   sync.Mutex
	queue []*op
}

// An op is one change, all of which happens or none.
type op struct {
	do     func(*writer) error // runs inside a transaction
	single bool                // do is one statement, unless the calls are indexed too
	rows   int                 // entries that it appends
	done   bool
	err    error
}

// write makes a change and returns when it would outlive a crash. A context that
// is done before is obeyed; after that the change is waited for.
func (w *writer) write(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.qmu.Lock()
	w.queue = append(w.queue, o)
	w.qmu.Unlock()

	w.mu.Lock()
	defer w.mu.Unlock()
	if o.done {
		return o.err
	}
	w.qmu.Lock()
	ops := w.queue
	w.queue = nil
	w.qmu.Unlock()
	w.group(ops)
	w.present(ops)
	if w.usable() == nil && w.c.written(false) >= checkpointEvery {
		w.checkpoint()
	}
	return o.err
}

// errAlone says that a change is not made together with others.
var errAlone = errors.New("alone")

// group makes all changes of ops.
func (w *writer) group(ops []*op) {
	err := errAlone
	if len(ops) > 1 {
		err = w.transact(func() error {
			for _, o := range ops {
				if err := o.do(w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, o := range ops {
		o.done = true
		switch {
		case err == nil:
		case locked(err): // each would wait for the lock again
			o.err = err
		default: // one of them was refused: each by itself
			if o.err = w.one(o); locked(o.err) {
				err = o.err
			}
		}
	}
}

// present takes back what was acknowledged when the files are not where they were:
// the next process would not find it.
func (w *writer) present(ops []*op) {
	if w.usable() != nil {
		return
	}
	for _, same := range w.same {
		if err := same(); err != nil {
			w.lost = fmt.Errorf("the store %q was moved, removed or replaced while it was written; put it back and start again: %w", w.path, err)
			break
		}
	}
	for _, o := range ops {
		if w.lost != nil && o.err == nil {
			o.err = w.usable()
		}
	}
}

// watch remembers which files are written.
func (w *writer) watch(path string, disk Disk) error {
	for _, name := range []string{path, path + "-wal"} {
		same, err := disk.Watch(name)
		if err != nil {
			return err
		}
		w.same = append(w.same, same)
	}
	return nil
}

func (w *writer) one(o *op) error {
	if !o.single || w.due+o.rows >= indexEvery {
		return w.transact(func() error { return o.do(w) })
	}
	if err := w.usable(); err != nil {
		return err
	}
	before := w.durable()
	changed := w.ends.changed
	err := o.do(w) // a statement outside of a transaction is one by itself
	if err == nil {
		w.ends.keep(w.rooted)
		return nil
	}
	w.ends.takeBack(changed)
	if full(err) {
		return w.takenBack(err, before)
	}
	return w.settle(err)
}

// usable says why nothing can be written.
func (w *writer) usable() error {
	switch {
	case w.closed:
		return journal.ErrClosed
	case w.lost != nil:
		return fmt.Errorf("%w: %w", journal.ErrLost, w.lost)
	}
	return nil
}

// transact runs f in a transaction.
func (w *writer) transact(f func() error) error {
	if err := w.usable(); err != nil {
		return err
	}
	before, due, changed := w.durable(), w.due, w.ends.changed
	if _, err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
		return w.settle(err)
	}
	err := f()
	if err == nil {
		if _, err = w.c.exec("COMMIT"); err == nil {
			w.ends.keep(w.rooted)
			return nil
		}
		if !full(err) { // the error does not say whether it is on disk
			return w.poison(err)
		}
		_, _ = w.c.exec("ROLLBACK") // which SQLite may have done already
	}
	w.head, w.tail, w.rooted, w.root, w.archived, w.due = before.Size, before.Tail, before.Rooted, before.Root, before.Archived, due
	w.ends.takeBack(changed)
	if full(err) {
		return w.takenBack(err, before)
	}
	if _, undone := w.c.exec("ROLLBACK"); undone != nil {
		return w.poison(errors.Join(err, undone))
	}
	return w.settle(err)
}

// takenBack decides what it means that the disk was full. No commit was written
// then, so when SQLite has rolled back the change may be tried again. That it has
// is looked up, not supposed: anything else is final.
func (w *writer) takenBack(cause error, before chain.Head) error {
	_, _ = w.c.exec("ROLLBACK") // which fails where there is nothing to roll back
	if _, err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
		return w.poison(errors.Join(cause, err))
	}
	row, err := w.c.row("SELECT epoch, (SELECT coalesce(max(seq), 0) FROM entry) FROM owner")
	if _, end := w.c.exec("ROLLBACK"); err != nil || end != nil {
		return w.poison(errors.Join(cause, err, end))
	}
	if len(row) != 2 || row[0] != w.epoch || row[1] != int64(before.Size) {
		return w.poison(errors.Join(cause, fmt.Errorf("after it was rolled back the store is at %v", row)))
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, cause)
}

// A refusal is an error of our own, before anything was written.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// settle decides what an error means for everything that follows.
func (w *writer) settle(err error) error {
	var own refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own.error
	case errors.Is(err, journal.ErrLost):
		w.lost = err
		return err
	case harmless(err):
		return err
	case locked(err):
		return fmt.Errorf("%w: another program holds the write lock of %q: %w", journal.ErrUnavailable, w.path, err)
	}
	return w.poison(err)
}

// poison makes the writer acknowledge nothing any more: after a failed write it is
// not known what is on disk, and after a failed fsync the next one would succeed
// although what it should have written is gone.
func (w *writer) poison(err error) error {
	if w.lost == nil {
		w.lost = fmt.Errorf("an earlier write failed, so that it is not known what is on disk; close the store and open it again: %w", err)
	}
	return fmt.Errorf("%w: %w", journal.ErrLost, err)
}

// owned verifies, inside a transaction, that no other process has taken the store over.
func (w *writer) owned() error {
	epoch, err := w.c.number("SELECT epoch FROM owner")
	if err != nil {
		return err
	}
	if epoch != w.epoch {
		return fmt.Errorf("owner %d has taken over from owner %d: %w", epoch, w.epoch, journal.ErrLost)
	}
	return nil
}

// checkpoint moves the write-ahead log into the file. SQLite would do it by itself
// and keep an error to itself: here a failed fsync is seen. What was acknowledged
// before is in the log all the same.
func (w *writer) checkpoint() {
	if w.usable() != nil {
		return
	}
	w.c.written(true)
	if row, err := w.c.row("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		if !full(err) && !locked(err) { // then the log has all of it still, and the next time there may be room
			_ = w.poison(err)
		}
	} else if len(row) == 3 {
		w.frames, _ = row[1].(int64)
		w.moved, _ = row[2].(int64)
	}
}

// durable returns the head as far as the disk has it. w.mu is held, and no
// transaction is under way.
func (w *writer) durable() chain.Head {
	return chain.Head{Size: w.head, Tail: w.tail, Epoch: uint64(w.epoch), Rooted: w.rooted, Root: w.root, Archived: w.archived}
}
