package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
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
	ring.keys[name] = make([]byte, chain.KeySize)
	_, _ = rand.Read(ring.keys[name]) // never fails
	if err := s.saveRing(ring); err != nil {
		return err
	}
	return s.change(ctx, func(w *writer) error {
		_, err := w.c.exec("INSERT INTO key VALUES (?) ON CONFLICT DO NOTHING", name)
		return err
	})
}
