package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/takeover"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// A Store is a journal in a file, and this process its only owner. Its methods
// are safe for concurrent use; those that change it return when the change would
// outlive a crash.
type Store struct {
	reader
	w      writer
	unlock func() error
	fence  *takeover.Lock // nil: the disk is simulated

	renewal *renewal              // nil: the store is not restored by this opening
	claimed atomic.Bool           // an executor writes
	doubt   atomic.Pointer[error] // why no entry leaves the store; nil: it may

	kmu    sync.Mutex   // before w.mu
	ring   *keyFile     // what the keys file says
	signer *chain.Chain // of heads
	header header
}

var (
	_ journal.Journal = (*Store)(nil)
	_ journal.Owner   = (*Store)(nil)
	_ journal.Keeper  = (*Store)(nil)
)

// Epoch returns the number of this ownership. See [journal.Owner].
func (s *Store) Epoch() uint64 { return uint64(s.w.epoch) }

// Renew records that this process is alive. See [journal.Owner].
func (s *Store) Renew(ctx context.Context) error {
	err := s.change(ctx, func(w *writer) error {
		_, err := w.c.exec("UPDATE owner SET beat = ?", time.Now().UnixNano())
		return err
	})
	if err != nil {
		return fmt.Errorf("renew the ownership of %q: %w", s.path, err)
	}
	return nil
}

// change makes a change of another kind than Append.
func (s *Store) change(ctx context.Context, do func(*writer) error) error {
	return s.write(ctx, &op{do: func(w *writer) error {
		if err := w.owned(); err != nil {
			return err
		}
		return do(w)
	}})
}

// write makes a change.
func (s *Store) write(ctx context.Context, o *op) error {
	if err := s.unstick(); err != nil {
		return err
	}
	if err := s.w.write(ctx, o); err != nil {
		return err
	}
	if o.rows > 0 {
		s.armHead()
	}
	return nil
}
