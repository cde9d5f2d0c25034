package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// prepareKeys reads the keys file of a store, or makes that of a new one. A store
// that is there without one is left to examine.
func (s *Store) prepareKeys(fresh bool) error {
	ring, err := readKeys(keysName(s.path), s.disk)
	switch {
	case errors.Is(err, fs.ErrNotExist) && fresh:
		return s.newKeys()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open the store %q: %w", s.path, err)
	case fresh && ring.head.Epoch > 0 && !s.renewal.begins():
		return s.gone(ring)
	}
	s.use(ring)
	return nil
}

// newKeys makes the keys file of a store that is about to be made.
func (s *Store) newKeys() error {
	s.use(newKeyFile())
	if err := s.saveRing(s.ring); err != nil {
		return fmt.Errorf("open the store %q: %w", s.path, err)
	}
	return nil
}

// use makes ring the keys of the store.
func (s *Store) use(ring *keyFile) {
	s.ring, s.secret = ring, &ring.Secret
	s.signer, s.w.chain = chain.New(s.secret), chain.New(s.secret)
	s.w.tail = s.w.chain.First()
}

// gone is the error of a store that existed.
func (s *Store) gone(ring *keyFile) error {
	return fmt.Errorf("open the store %q: %w: there is none, and by %q there was one of at least %d entries; put it back, or, "+hintBegin,
		s.path, ErrRolledBack, keysName(s.path), ring.head.Size, s.path)
}

// examine refuses a store that is damaged, or not the one of its keys. It only reads.
// It returns how far the store goes; nil: there is none yet.
func (s *Store) examine(ctx context.Context) (*standing, error) {
	if err := s.inspect(ctx); err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, s.db)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open the store %q: %w", s.path, err)
	case version == 0 && s.ring == nil:
		return nil, s.newKeys()
	case version == 0 && s.ring.head.Epoch > 0 && !s.renewal.begins():
		return nil, s.gone(s.ring)
	case version == 0:
		return nil, nil
	case s.renewal.begins():
		return nil, s.there()
	case s.ring == nil:
		return nil, fmt.Errorf("open the store %q: %w: there is no file %q; restore it: without it nothing says who has written an entry", s.path, ErrKeys, keysName(s.path))
	}
	at, err := s.authenticate(ctx, s.base())
	return &at, err
}
