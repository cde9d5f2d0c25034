package sqlite

import (
	"context"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Claim makes the caller the only executor of this process that writes the
// journal, until release is called. See [journal.Owner]. The store is compared with
// its keys file once more, as by [Open].
func (s *Store) Claim(ctx context.Context) (release func(), err error) {
	if s.claimed.Swap(true) {
		return nil, fmt.Errorf("the store %q: %w", s.path, journal.ErrClaimed)
	}
	if err := s.refresh(ctx); err != nil {
		s.claimed.Store(false)
		return nil, err
	}
	return sync.OnceFunc(func() { s.claimed.Store(false) }), nil
}

// refresh compares the store with its keys file, and continues it where it ends.
func (s *Store) refresh(ctx context.Context) error {
	s.header.disarm(false)
	s.kmu.Lock()
	defer s.kmu.Unlock()
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if err := s.w.usable(); err != nil {
		return err
	}
	ring, err := readKeys(keysName(s.path), s.disk)
	switch {
	case err != nil:
		return fmt.Errorf("the store %q: %w", s.path, err)
	case ring.Secret != s.ring.Secret:
		return fmt.Errorf("the store %q: %w: %q has become that of another store; put back the one that belongs to it", s.path, ErrKeys, keysName(s.path))
	}
	at, err := s.authenticate(ctx, &ring.head)
	if err == nil {
		err = s.continueAt(ctx, &at)
	}
	if err != nil {
		return err
	}
	s.ring.head = ring.head
	return s.setHead(s.w.durable())
}
