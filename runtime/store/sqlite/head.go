package sqlite

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// headDelay is how long after the first entry that the head does not cover it is
// written: entries above the head can be cut off unnoticed.
const headDelay = time.Second

// A header is the timer of the head.
type header struct {
	after func(time.Duration, func()) (stop func() bool)
	armed atomic.Bool // the timer runs, or is about to
	stuck atomic.Bool // the head could not be written

	mu   sync.Mutex
	stop func() bool // of the timer; nil: it was never started
	done bool        // the store is closed
}

// armHead sees to it that the head is written soon. It is called after a commit,
// without locks, and does nothing for most of them.
func (s *Store) armHead() {
	h := &s.header
	if h.armed.Swap(true) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.done {
		h.stop = h.after(headDelay, s.headDue)
	}
}

// disarm stops the timer, for good when the store is closed.
func (h *header) disarm(closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop()
	}
	h.armed.Store(false)
	h.done = closed
}

// headDue is what the timer calls. What fails is tried again by the next change,
// which waits for it.
func (s *Store) headDue() { _ = s.writeHead() }

// writeHead writes the head, if it is not what the keys file says. It waits for
// no transaction but the one that is being written.
func (s *Store) writeHead() error {
	s.kmu.Lock()
	defer s.kmu.Unlock()
	s.w.mu.Lock()
	h, usable := s.w.durable(), s.w.usable()
	s.header.armed.Store(false) // what is appended from here on arms it again
	s.w.mu.Unlock()
	if usable != nil {
		return nil // closed, or it is not known what is on the disk
	}
	return s.setHead(h)
}

// setHead makes h the head. s.kmu is held.
func (s *Store) setHead(h chain.Head) error {
	if h == s.ring.head {
		s.header.stuck.Store(false)
		return nil
	}
	ring := s.ring.clone()
	ring.head = h
	err := s.saveRing(ring)
	s.header.stuck.Store(err != nil)
	return err
}

// unstick writes a head that could not be written before. Until that is possible
// nothing is changed: what could be cut off unnoticed must not grow.
func (s *Store) unstick() error {
	if !s.header.stuck.Load() {
		return nil
	}
	err := s.writeHead()
	if err == nil {
		return nil
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if err := s.w.usable(); err != nil {
		return err
	}
	if lost := s.w.owned(); lost != nil {
		return s.w.settle(lost)
	}
	return fmt.Errorf("%w: the head of the store cannot be written: %w", journal.ErrUnavailable, err)
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
