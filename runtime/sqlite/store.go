package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Store is a journal in a file, and this process its only owner. Its methods
// are safe for concurrent use; those that change it return when the change would
// outlive a crash.
type Store struct {
	reader
	w      writer
	unlock func() error

	kmu  sync.Mutex
	keys map[string][]byte // nil: not read yet
}

var (
	_ journal.Journal = (*Store)(nil)
	_ journal.Owner   = (*Store)(nil)
	_ journal.Keeper  = (*Store)(nil)
)

// Open opens the store in the file of a name, which is made when it is not there,
// and takes it over: see [Store.Epoch]. Beside the file there will be four others,
// with .lock, .keys, -wal and -shm behind its name. It must be closed.
//
// A store that another process owns is refused with [ErrOwned], one of an unknown
// version with [ErrVersion], a file that is something else with [ErrNotStore], and
// one that is damaged with a [*CorruptError]; none of them is changed.
func Open(path string, opts ...Option) (*Store, error) {
	o := configure(opts)
	path, err := resolve(path, o.disk)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	unlock, err := acquire(path, o)
	if err != nil {
		return nil, err
	}
	s := &Store{unlock: unlock}
	s.path, s.disk = path, o.disk
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func (s *Store) open() error {
	fresh, err := identify(s.path, s.disk)
	if err == nil && fresh {
		err = orphaned(s.path, s.disk)
	}
	if err != nil {
		return err
	}
	if fresh && s.disk.VFS() == "" {
		if err := private(s.path); err != nil {
			return fmt.Errorf("open the store %q: %w", s.path, err)
		}
	}
	if err := s.connect("ro"); err != nil {
		return err
	}
	if !fresh {
		if err := s.inspect(context.Background()); err != nil {
			return err
		}
	}
	if s.w.c, err = connect(source(s.path, s.disk, "rwc", durable)); err != nil {
		return fmt.Errorf("open the store %q: %w", s.path, err)
	}
	if err = s.inherit(); err == nil {
		err = s.own(time.Now())
	}
	if err != nil {
		return fmt.Errorf("open the store %q: %w", s.path, err)
	}
	return nil
}

// inherit moves the write-ahead log of an owner that did not close the store into
// the file, before anything is written behind it. Otherwise owners that crash before
// it is due would leave the next one a log that is longer each time, and what follows
// on a write whose fsync has failed would look as if that had been on the disk.
func (s *Store) inherit() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.checkpoint()
	return s.w.usable()
}

// private makes a file that its owner alone may read, as SQLite's own files beside
// it will be then: it holds values that are sensitive. One that is there stays as it is.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// own brings the store to this version and makes this process its owner.
func (s *Store) own(now time.Time) error {
	c := s.w.c
	if err := migrate(c, now); err != nil {
		return err
	}
	host, _ := os.Hostname() // only told to people
	return s.w.transact(func() error {
		_, err := c.exec("UPDATE owner SET epoch = epoch + 1, pid = ?, host = ?, since = ?, beat = ?, closed = 0",
			int64(os.Getpid()), host, now.UnixNano(), now.UnixNano())
		if err != nil {
			return err
		}
		row, err := c.row("SELECT epoch, indexed, (SELECT coalesce(max(seq), 0) FROM entry) FROM owner")
		if err != nil {
			return err
		}
		if len(row) != 3 {
			return errors.New("the table owner is empty")
		}
		epoch, indexed, head := row[0].(int64), row[1].(int64), row[2].(int64)
		s.w.epoch, s.w.head, s.w.due = epoch, uint64(head), int(head-indexed)
		return nil
	})
}

// Close moves everything into the one file and gives the store up. It is an error
// when that was not possible; nothing that was acknowledged is lost by that.
func (s *Store) Close() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.closed {
		return nil
	}
	var errs []error
	if s.w.lost == nil {
		errs = append(errs, s.w.transact(func() error {
			if err := s.w.owned(); err != nil {
				return err
			}
			if err := s.w.index(); err != nil {
				return err
			}
			_, err := s.w.c.exec("UPDATE owner SET closed = 1")
			return err
		}))
	}
	s.w.closed = true
	errs = append(errs, s.close())
	if s.w.lost == nil {
		_, err := s.w.c.row("PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, s.release())...); err != nil {
		return fmt.Errorf("close the store %q: %w", s.path, err)
	}
	return nil
}

// release gives back what Open has taken.
func (s *Store) release() error {
	errs := []error{s.close()}
	if s.w.c != nil {
		errs = append(errs, s.w.c.close())
	}
	return errors.Join(append(errs, s.unlock())...)
}

// Epoch returns the number of this ownership. See [journal.Owner].
func (s *Store) Epoch() uint64 { return uint64(s.w.epoch) }

// Beat records that this process is alive. See [journal.Owner].
func (s *Store) Beat(ctx context.Context) error {
	err := s.change(ctx, func(w *writer) error {
		_, err := w.c.exec("UPDATE owner SET beat = ?", time.Now().UnixNano())
		return err
	})
	if err != nil {
		return fmt.Errorf("renew the ownership of %q: %w", s.path, err)
	}
	return nil
}

// change makes a change of another kind than Append.
func (s *Store) change(ctx context.Context, do func(*writer) error) error {
	return s.w.write(ctx, &op{do: func(w *writer) error {
		if err := w.owned(); err != nil {
			return err
		}
		return do(w)
	}})
}
