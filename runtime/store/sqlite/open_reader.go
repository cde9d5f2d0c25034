package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// A Reader reads a store that another process may own meanwhile. It never writes
// to it, takes no lock that the owner would wait for, and sees what has been
// appended when a method is called.
type Reader struct {
	reader
	keys string // the file of the keys; empty: there are none
}

// OpenReader opens the store in the file of a name for reading: whether a process
// owns it or not, also after a crash, and also a damaged one, of which it reads
// what is left. It must be closed.
func OpenReader(path string, opts ...Option) (*Reader, error) {
	o := configure(opts)
	path, err := resolve(path, o.disk)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if err := isFile(path, o.disk); err != nil {
		return nil, err
	}
	fresh, err := identify(path, o.disk)
	if err == nil && fresh {
		err = fmt.Errorf("open the store %q: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	for _, mode := range []string{"ro", immutable} {
		r := &Reader{keys: o.keys}
		r.path, r.disk = path, o.disk
		if err := r.connect(mode); err != nil {
			return nil, err
		}
		version, fault := versionOf(context.Background(), r.db)
		if fault == nil && version == 0 {
			fault = fmt.Errorf("%w: it is empty", ErrNotStore)
		}
		if fault == nil || damaged(fault) {
			if err := r.useKeys(); err != nil {
				return nil, errors.Join(err, r.close())
			}
			return r, nil
		}
		err = errors.Join(fmt.Errorf("open the store %q: %w", path, fault), r.close())
		// In a directory that may not be written there can be no shared memory, which
		// also means that no process writes the store, unless there is a log to read.
		log, missing := o.disk.Read(path+"-wal", 0, 1)
		if code(fault) != sqlite3.SQLITE_CANTOPEN && code(fault) != sqlite3.SQLITE_READONLY || missing == nil && len(log) != 0 {
			return nil, err
		}
	}
	return nil, err
}

// Close releases what OpenReader has acquired.
func (r *Reader) Close() error { return r.close() }

// useKeys makes r verify what it reads, if it has keys.
func (r *Reader) useKeys() error {
	if r.keys == "" {
		return nil
	}
	ring, err := readKeys(r.keys, r.disk)
	if err != nil {
		return fmt.Errorf("open the store %q: %w", r.path, err)
	}
	r.secret = &ring.Secret
	return nil
}

// Authenticate compares the store with the head in the keys file that [WithKeys]
// names, and verifies the entries after it; those before are verified when they are
// read. The error is [ErrKeys] when the keys are those of another store,
// [ErrRolledBack] when the store is older than they are, and [ErrForged] when an
// entry does not verify. It returns the last position. The store may be written meanwhile: what was
// appended before the call is verified.
func (r *Reader) Authenticate(ctx context.Context) (entries uint64, err error) {
	if r.keys == "" {
		return 0, fmt.Errorf("authenticate the store %q: it was opened without its keys (sqlite.WithKeys)", r.path)
	}
	ring, err := readKeys(r.keys, r.disk) // before the store, which is never behind it
	if err != nil {
		return 0, fmt.Errorf("authenticate the store %q: %w", r.path, err)
	}
	if ring.Secret != *r.secret {
		return 0, fmt.Errorf("authenticate the store %q: %w: %q was replaced meanwhile", r.path, ErrKeys, r.keys)
	}
	var at standing
	err = r.steady(ctx, func() (err error) {
		at, err = r.authenticate(ctx, &ring.head)
		return err
	})
	return at.last, err
}

// ownedFor is how long an owner is believed to live that has not said so.
const ownedFor = time.Minute

// Owned reports whether a process owns the store, as the store says: it was not closed,
// and its owner has renewed the lease within the last minute.
func (r *Reader) Owned(ctx context.Context) (owned bool, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var beat, closed int64
		err := rows.Scan(&beat, &closed)
		owned = closed == 0 && time.Since(time.Unix(0, beat)).Abs() < ownedFor
		return err
	}, "SELECT beat, closed FROM owner")
	return owned, err
}

// Key returns the key of a name, which the owner of the store has made. The error
// is [fs.ErrNotExist] when it has made none, and [fs.ErrPermission] when the keys
// are not for this user to read.
func (r *Reader) Key(_ context.Context, name string) ([]byte, error) {
	k, err := readKeys(keysName(r.path), r.disk)
	if err != nil {
		return nil, err
	}
	if k.keys[name] == nil {
		return nil, fmt.Errorf("the key %q of %q: %w", name, r.path, fs.ErrNotExist)
	}
	return k.keys[name], nil
}
