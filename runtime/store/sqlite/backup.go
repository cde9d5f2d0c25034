package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// Backup writes the store as it is now, and the keys that belong to it, into new files: path and
// path.keys, for their owner alone to read. The store may be written meanwhile; its owner waits for
// nothing. What was erased is not in the copy. Backup verifies every entry of the copy, and returns
// how many there are.
//
// The reader must have been opened with the keys of the store ([WithKeys]). The error is one of
// those of [Reader.Authenticate], and a [*CorruptError] where the store is damaged. With an error
// there may be a part of the copy, which the caller removes. Backup does not sync the copy.
func (r *Reader) Backup(ctx context.Context, path string) (entries uint64, err error) {
	if _, err := r.Authenticate(ctx); err != nil {
		return 0, err
	}
	// The head is read before the entries, so that it is never ahead of them. The named keys are read
	// after them: a key is in its file before its name is in the store.
	ring, err := readKeys(r.keys, r.disk)
	if err != nil {
		return 0, fmt.Errorf("back up %q: %w", r.path, err)
	}
	if err := r.vacuumInto(path); err != nil {
		return 0, fmt.Errorf("back up %q: %w", r.path, r.explain(ctx, err))
	}
	named, err := readKeys(r.keys, r.disk)
	switch {
	case err != nil:
		return 0, fmt.Errorf("back up %q: %w", r.path, err)
	case ring.Secret != *r.secret || named.Secret != *r.secret:
		return 0, fmt.Errorf("back up %q: %w: %q was replaced meanwhile", r.path, ErrKeys, r.keys)
	}
	ring.keys = maps.Clone(named.keys)
	text, err := ring.encode(chain.New(&ring.Secret))
	if err == nil {
		err = os.WriteFile(keysName(path), text, 0o600)
	}
	if err != nil {
		return 0, fmt.Errorf("back up %q: %w", r.path, err)
	}
	return VerifyCopy(ctx, path)
}

// vacuumInto copies the store in one transaction that reads.
func (r *Reader) vacuumInto(path string) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	// SQLite fills an empty file, which has the mode of private, and refuses one that has something in it.
	if err := private(path); err != nil {
		return err
	}
	c, err := connect(source(r.path, r.disk, "ro", []string{"busy_timeout(5000)"}))
	if err != nil {
		return err
	}
	_, err = c.exec("VACUUM INTO ?", path)
	return errors.Join(err, c.close())
}

// VerifyCopy verifies every entry of a store that no process has open, and the tree of its sessions, by its keys file. It writes
// nothing. It returns how many entries there are.
func VerifyCopy(ctx context.Context, path string) (entries uint64, err error) {
	r, err := OpenReader(path, WithKeys(keysName(path)))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if entries, err = r.Authenticate(ctx); err != nil {
		return 0, err
	}
	low, err := r.lower(ctx)
	if err != nil {
		return 0, err
	}
	for after := low.Last; after < entries; {
		list, err := r.Read(ctx, after, followed)
		if err != nil {
			return 0, err
		}
		if len(list) == 0 {
			return 0, &CorruptError{Path: path, Readable: after, Damaged: after + 1}
		}
		after += uint64(len(list))
	}
	return entries, r.VerifySessions(ctx)
}

// Reserve takes the lock of a store that is about to be put at path, so that no process opens or
// makes a store there until release is called. The error is [ErrOwned] when a process has it.
func Reserve(path string, opts ...Option) (release func() error, err error) {
	o := configure(opts)
	if path, err = resolve(path, o.disk); err != nil {
		return nil, err
	}
	return acquire(path, o)
}

// SameKeys refuses two keys files that are not those of one store, with [ErrKeys].
func SameKeys(a, b string) error {
	first, err := readKeys(a, osDisk{})
	if err != nil {
		return err
	}
	second, err := readKeys(b, osDisk{})
	if err != nil {
		return err
	}
	if first.Secret != second.Secret {
		return fmt.Errorf("%w: %q and %q are those of two stores", ErrKeys, a, b)
	}
	return nil
}
