package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"slices"
)

// Key returns the key of a name. See [journal.Keeper]. The keys are in a file of
// their own, which only its owner may read, so that a copy of the journal is no copy
// of them. A key that was made once and is not there any more is an error: another
// one would not fit what was made with the first.
func (s *Store) Key(ctx context.Context, name string) ([]byte, error) {
	s.kmu.Lock()
	defer s.kmu.Unlock()
	if s.ring.keys[name] == nil {
		if err := s.makeKey(ctx, name); err != nil {
			return nil, fmt.Errorf("make the key %q of %q: %w", name, s.path, err)
		}
	}
	return slices.Clone(s.ring.keys[name]), nil
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

// makeKey makes a key: first in its file, so that a crash in between leaves one
// that was never used, then its name in the store. s.kmu is held.
func (s *Store) makeKey(ctx context.Context, name string) error {
	made := "SELECT count(*) FROM key WHERE name = ?"
	err := s.change(ctx, func(w *writer) error {
		n, err := w.c.number(made, name)
		if err == nil && n != 0 {
			err = refusal{fmt.Errorf("it was made before and is not in %q any more; restore that file", keysName(s.path))}
		}
		return err
	})
	if err != nil {
		return err
	}
	ring := s.ring.clone()
	ring.keys[name] = make([]byte, keySize)
	_, _ = rand.Read(ring.keys[name]) // never fails
	if err := s.saveRing(ring); err != nil {
		return err
	}
	return s.change(ctx, func(w *writer) error {
		_, err := w.c.exec("INSERT INTO key VALUES (?) ON CONFLICT DO NOTHING", name)
		return err
	})
}

// saveRing replaces the keys file. When that fails it is not known which of the
// two is there; a later call replaces both. s.kmu is held.
func (s *Store) saveRing(ring *keyFile) error {
	text, err := ring.encode(s.signer)
	if err == nil {
		err = s.disk.Write(keysName(s.path), text)
	}
	if err != nil {
		return fmt.Errorf("write the keys in %q: %w", keysName(s.path), err)
	}
	s.ring = ring
	return nil
}
