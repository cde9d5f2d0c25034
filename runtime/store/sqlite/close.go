package sqlite

import (
	"errors"
	"fmt"
)

// Close moves everything into the one file and gives the store up. It is an error
// when that was not possible; nothing that was acknowledged is lost by that.
func (s *Store) Close() error {
	s.header.disarm(true)
	s.kmu.Lock()
	defer s.kmu.Unlock()
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.closed {
		return nil
	}
	var errs []error
	if s.w.lost == nil {
		errs = append(errs, s.settle())
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

// settle brings the indexes, the tree of the sessions and the head up to date. s.kmu and w.mu are held.
func (s *Store) settle() error {
	err := s.w.transact(func() error {
		if err := s.w.owned(); err != nil {
			return err
		}
		if err := s.w.index(true); err != nil {
			return err
		}
		_, err := s.w.c.exec("UPDATE owner SET closed = 1")
		return err
	})
	if err != nil {
		return err
	}
	return s.setHead(s.w.durable())
}

// release releases what Open has acquired.
func (s *Store) release() error {
	errs := []error{s.close()}
	if s.w.c != nil {
		errs = append(errs, s.w.c.close())
	}
	if s.fence != nil {
		errs = append(errs, s.fence.Close())
	}
	return errors.Join(append(errs, s.unlock())...)
}
