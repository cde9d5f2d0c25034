package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/ownfile"
)

// Open opens the store in the file of a name, which is made when it is not there,
// and takes it over: see [Store.Epoch]. The store has five more files, with .lock,
// .fence, .keys, -wal and -shm after the name of the first. It must be closed.
//
// A store that another process owns is refused with [ErrOwned], one of an unknown
// version with [ErrVersion], a file that is something else with [ErrNotStore],
// one that is damaged with a [*CorruptError], one with entries that its owners did
// not write with [ErrForged], one that is older than its keys file, or gone, with
// [ErrRolledBack], and one whose keys file is missing or another one's with
// [ErrKeys]. None of them is changed. Entries below the head that the keys file has
// are verified when they are read.
func Open(path string, opts ...Option) (*Store, error) {
	return open(path, configure(opts))
}

func open(path string, o options) (*Store, error) {
	path, err := resolve(path, o.disk)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if err := isFile(path, o.disk); err != nil {
		return nil, err
	}
	unlock, err := acquire(path, o)
	if err != nil {
		return nil, err
	}
	s := &Store{unlock: unlock, renewal: o.renewal}
	s.path, s.disk, s.header.after = path, o.disk, o.after
	s.w.path, s.w.back = path, s.walk
	if err := s.open(o.wait); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func (s *Store) open(wait time.Duration) error {
	fresh, err := identify(s.path, s.disk)
	switch {
	case err != nil:
	case fresh:
		err = orphaned(s.path, s.disk)
	default:
		err = s.supported() // before the keys: those of an earlier version have another form
	}
	if err == nil {
		err = s.prepareKeys(fresh)
	}
	if err != nil {
		return err
	}
	if fresh && s.disk.VFS() == "" {
		if err := private(s.path); err != nil {
			return fmt.Errorf("open the store %q: %w", s.path, err)
		}
	}
	if fresh {
		if err := s.connect("ro"); err != nil {
			return err
		}
	}
	var at *standing
	if !fresh {
		if at, err = s.examine(context.Background()); err != nil {
			return err
		}
	}
	if err := s.closed(); err != nil {
		return err
	}
	if s.w.c, err = connect(source(s.path, s.disk, "rwc", durable)); err != nil {
		return fmt.Errorf("open the store %q: %w", s.path, err)
	}
	if err = s.inherit(); err == nil {
		err = s.takeOver(wait, func() error { return s.own(time.Now()) })
	}
	if err == nil && at != nil {
		err = s.continueAt(context.Background(), at)
	}
	if err == nil {
		err = s.renew(time.Now())
	}
	if err == nil {
		err = s.w.watch(s.path, s.disk)
	}
	if err == nil {
		err = s.writeHead() // from here on a store existed, and this is its epoch
	}
	if err != nil {
		return fmt.Errorf("open the store %q: %w", s.path, err)
	}
	return nil
}

// supported connects to a store, and refuses one of a version that this program does not support. Other
// faults are left to examine.
func (s *Store) supported() error {
	if err := s.connect("ro"); err != nil {
		return err
	}
	if _, err := versionOf(context.Background(), s.db); errors.Is(err, ErrVersion) {
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

// isFile refuses a path that leads to a pipe, a device or a folder, before anything waits for it.
func isFile(path string, disk Disk) error {
	if disk.VFS() != "" {
		return nil
	}
	if err := ownfile.Regular(path); err != nil {
		return fmt.Errorf("open the store: %w: %w", ErrNotStore, err)
	}
	return nil
}

// closed refuses a store that all users may read or write: who reads its keys can make entries that verify, and who
// writes its files can take back what has happened.
func (s *Store) closed() error {
	if s.disk.VFS() != "" {
		return nil
	}
	err := ownfile.Closed(s.path, s.path+"-wal", keysName(s.path))
	if err == nil {
		err = ownfile.Like(s.path+"-shm", s.path) // SQLite has made it, maybe while the store was open to all
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	return nil
}

// private makes a file that its owner alone may read, because it holds values that are
// sensitive. SQLite gives its own files the same mode. A file that is there stays as it is.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(ownfile.Close(f), f.Close())
}

// own brings the store to this version and makes this process its owner.
func (s *Store) own(now time.Time) error {
	c := s.w.c
	if err := migrate(c, now, s.ring.ID); err != nil {
		return err
	}
	host, _ := os.Hostname() // only told to people
	return s.w.transact(func() error {
		_, err := c.exec("UPDATE owner SET epoch = max(epoch, ?) + 1, pid = ?, host = ?, since = ?, beat = ?, closed = 0",
			int64(s.ring.head.Epoch), int64(os.Getpid()), host, now.UnixNano(), now.UnixNano())
		if err != nil {
			return err
		}
		s.w.epoch, err = c.number("SELECT epoch FROM owner")
		return err
	})
}
