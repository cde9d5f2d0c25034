package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/takeover"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// fenceSuffix ends the name of the file whose lock keeps a successor out while
// an effect of this owner is under way.
const fenceSuffix = ".fence"

var _ journal.Fencer = (*Store)(nil)

// takeOver calls own, which stores the next epoch, while no former owner carries
// out an effect: it waits for that for at most wait.
func (s *Store) takeOver(wait time.Duration, own func() error) error {
	if s.disk.VFS() != "" { // a simulated disk has one process
		return own()
	}
	var err error
	if s.fence, err = takeover.Open(s.path + fenceSuffix); err != nil {
		return err
	}
	err = s.fence.Take(wait, own)
	if errors.Is(err, takeover.ErrHeld) {
		return fmt.Errorf("%w, and is carrying out an effect: %w; end that process, or wait for it (sqlite.WithWait)", ErrOwned, err)
	}
	return err
}

// Fence calls effect while this process owns the store and no other can take it
// over. See [journal.Fencer].
func (s *Store) Fence(ctx context.Context, effect func()) error {
	stands := func() error { return s.stillOwned(ctx) }
	if s.fence == nil {
		if err := stands(); err != nil {
			return err
		}
		effect()
		return nil
	}
	err := s.fence.Hold(stands, effect)
	if errors.Is(err, takeover.ErrHeld) {
		return fmt.Errorf("the store %q is being taken over: %w: %w", s.path, journal.ErrLost, err)
	}
	return err
}

// stillOwned compares the stored epoch with that of this owner.
func (s *Store) stillOwned(ctx context.Context) error {
	var epoch int64
	err := s.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&epoch) }, "SELECT epoch FROM owner")
	if err != nil {
		return fmt.Errorf("the epoch of the store %q: %w", s.path, err)
	}
	if epoch != s.w.epoch {
		return fmt.Errorf("owner %d has taken the store %q over from owner %d: %w", epoch, s.path, s.w.epoch, journal.ErrLost)
	}
	return nil
}
