package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A writer makes all changes. Whoever comes while a transaction is being written
// waits for the lock with what it wants; the first to get it does what all of
// them want in one transaction. There is no goroutine of the writer's own: for one
// caller the two hand-overs to one cost a tenth of an append.
type writer struct {
	mu            sync.Mutex // held while writing; everything below but the queue
	c             *conn
	epoch         int64
	head          uint64
	frames, moved int64 // of the write-ahead log, at the last checkpoint
	lost          error // why nothing may be written any more
	closed        bool
	due           int // entries since the calls were indexed

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
	if w.usable() == nil && w.c.written(false) >= checkpointEvery {
		w.checkpoint()
	}
	return o.err
}

// group makes all changes of ops.
func (w *writer) group(ops []*op) {
	together := len(ops) > 1 && w.transact(func() error {
		for _, o := range ops {
			if err := o.do(w); err != nil {
				return err
			}
		}
		return nil
	}) == nil
	for _, o := range ops {
		o.done = true
		if !together { // one of them was refused: each by itself
			o.err = w.one(o)
		}
	}
}

func (w *writer) one(o *op) error {
	if !o.single || w.due+o.rows >= indexEvery {
		return w.transact(func() error { return o.do(w) })
	}
	if err := w.usable(); err != nil {
		return err
	}
	return w.settle(o.do(w)) // a statement outside of a transaction is one by itself
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
	head, due := w.head, w.due
	if _, err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
		return w.settle(err)
	}
	err := f()
	if err == nil {
		if _, err = w.c.exec("COMMIT"); err == nil {
			return nil
		}
		// Whether it is on disk is not known, whatever the error says.
		return w.poison(err)
	}
	w.head, w.due = head, due
	if _, undone := w.c.exec("ROLLBACK"); undone != nil {
		return w.poison(errors.Join(err, undone))
	}
	return w.settle(err)
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

// owned verifies, inside a transaction, that nobody else has taken the store over.
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
		_ = w.poison(err)
	} else if len(row) == 3 {
		w.frames, _ = row[1].(int64)
		w.moved, _ = row[2].(int64)
	}
}
