package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// keySize is the length of a key in bytes, keysLimit what the file of the keys
// may have.
const (
	keySize   = 32
	keysLimit = 1 << 20
)

// Key returns the key of a name. See [journal.Keeper]. The keys are in a file of
// their own, beside the store and for its owner alone to read, so that a copy of
// the journal is no copy of them. A key that was made once and is not there any
// more is an error: another one would not fit what was made with the first.
func (s *Store) Key(ctx context.Context, name string) ([]byte, error) {
	s.kmu.Lock()
	defer s.kmu.Unlock()
	if s.keys == nil {
		keys, err := s.readKeys()
		if err != nil {
			return nil, err
		}
		s.keys = keys
	}
	if s.keys[name] == nil {
		if err := s.makeKey(ctx, name); err != nil {
			return nil, fmt.Errorf("make the key %q of %q: %w", name, s.path, err)
		}
	}
	return slices.Clone(s.keys[name]), nil
}

func (r *reader) readKeys() (map[string][]byte, error) {
	file, keys := r.path+".keys", map[string][]byte{}
	text, err := r.disk.Read(file, 0, keysLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("read the keys in %q, which are for the owner of that file: %w", file, err)
	}
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	for name, key := range keys {
		if len(key) != keySize {
			err = fmt.Errorf("the key %q has %d bytes, not %d", name, len(key), keySize)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys in %q: %w; restore that file", file, err)
	}
	return keys, nil
}

// Key returns the key of a name, which the owner of the store has made. The error
// is [fs.ErrNotExist] when it has made none, and [fs.ErrPermission] when the keys
// are not for this user to read.
func (r *Reader) Key(_ context.Context, name string) ([]byte, error) {
	keys, err := r.readKeys()
	if err != nil {
		return nil, err
	}
	if keys[name] == nil {
		return nil, fmt.Errorf("the key %q of %q: %w", name, r.path, fs.ErrNotExist)
	}
	return keys[name], nil
}

// makeKey makes a key: first in its file, so that a crash in between leaves one
// that was never used, then its name in the store.
func (s *Store) makeKey(ctx context.Context, name string) error {
	made := "SELECT count(*) FROM key WHERE name = ?"
	err := s.change(ctx, func(w *writer) error {
		n, err := w.c.number(made, name)
		if err == nil && n != 0 {
			err = refusal{fmt.Errorf("it was made before and is not in %q any more; restore that file", s.path+".keys")}
		}
		return err
	})
	if err != nil {
		return err
	}
	keys := maps.Clone(s.keys)
	keys[name] = make([]byte, keySize)
	_, _ = rand.Read(keys[name]) // never fails
	text, err := json.Marshal(keys)
	if err == nil {
		err = s.disk.Write(s.path+".keys", text)
	}
	if err != nil {
		s.keys = nil // to be read again: which of the two is there is not known
		return err
	}
	s.keys = keys
	return s.change(ctx, func(w *writer) error {
		_, err := w.c.exec("INSERT INTO key VALUES (?) ON CONFLICT DO NOTHING", name)
		return err
	})
}
