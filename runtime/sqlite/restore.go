package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Restoration says who continues an older copy of a store, or begins one anew in
// its place, and why. Both are recorded.
type Restoration struct {
	By     string
	Reason string
	At     time.Time // the zero value is now
	begin  bool
}

// Restore is [Open] for a store that is older than its keys file, or than the notes
// of its audit, because it was restored from a copy on purpose. It verifies all of
// the store, and appends an entry of the kind [journal.KindRestored], which is
// returned; then the head is that of the copy. What was recorded after the copy was
// made is given up: calls of that time can run again.
func Restore(path string, r Restoration, opts ...Option) (*Store, *journal.Restored, error) {
	return renew(path, r, opts)
}

// Begin is [Restore] for a store that is gone: it makes a new one, whose first entry
// says so. One that is there is refused.
func Begin(path string, r Restoration, opts ...Option) (*Store, *journal.Restored, error) {
	r.begin = true
	return renew(path, r, opts)
}

func renew(path string, r Restoration, opts []Option) (*Store, *journal.Restored, error) {
	if r.Reason == "" {
		return nil, nil, fmt.Errorf("restore the store %q: the reason is missing", path)
	}
	o := configure(opts)
	o.renewal = &renewal{Restoration: r}
	s, err := open(path, o)
	if err != nil {
		return nil, nil, err
	}
	return s, &o.renewal.record, nil
}

// A renewal is a Restoration that is under way.
type renewal struct {
	Restoration
	record journal.Restored
}

// begins reports whether a store is to be made in the place of one that is gone.
func (r *renewal) begins() bool { return r != nil && r.begin }

// base returns what a store that is opened is compared with: its head, or, when it is
// restored, nothing, so that all of it is verified.
func (s *Store) base() *head {
	if s.renewal == nil {
		return &s.ring.head
	}
	return &head{tail: newChain(s.secret).first()}
}

// renew records that the store was restored. What has to be known of the former one
// is still in the keys file.
func (s *Store) renew(now time.Time) error {
	r := s.renewal
	if r == nil {
		return nil
	}
	if r.At.IsZero() {
		r.At = now
	}
	r.record = journal.Restored{Kept: s.w.head, Had: s.ring.head.size, Reason: r.Reason}
	e, err := journal.NewEntry(s.w.head+1, &journal.Record{Kind: journal.KindRestored, At: r.At.UTC().Round(0), By: r.By, Restored: &r.record}, nil)
	if err != nil {
		return err
	}
	return s.w.transact(func() error { return s.w.insert([]journal.Entry{e}, false) })
}

// there is the error of a store that is to be begun and is there.
func (s *Store) there() error {
	return fmt.Errorf("begin the store %q: it is there; if it was restored from a copy on purpose, say so with \"ambit audit restored\", and move it away if it is to be another one", s.path)
}

// ownedFor is how long an owner is believed to live that has not said so.
const ownedFor = time.Minute

// Owned reports whether a process owns the store, as the store says: it was not closed,
// and its owner has renewed the lease within the last minute.
func (r *Reader) Owned(ctx context.Context) (owned bool, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var beat, closed int64
		err := rows.Scan(&beat, &closed)
		owned = closed == 0 && time.Since(time.Unix(0, beat)).Abs() < ownedFor
		return err
	}, "SELECT beat, closed FROM owner")
	return owned, err
}

// RolledBack reports whether an error of [Open] or [Reader.Authenticate] may mean that
// the store was restored from a copy: it is older than its head, or not its
// continuation.
func RolledBack(err error) bool {
	var forged *ForgedError
	return errors.Is(err, ErrRolledBack) || errors.As(err, &forged) && forged.What == whatFork
}
