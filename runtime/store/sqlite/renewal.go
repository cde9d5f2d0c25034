package sqlite

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// A Restoration says who continues an older copy of a store, or begins one anew in
// its place, and why. Both are recorded.
type Restoration struct {
	By     string
	Reason string
	At     time.Time // the zero value is now
	begin  bool
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
func (s *Store) base() *chain.Head {
	if s.renewal == nil {
		return &s.ring.head
	}
	return &chain.Head{Tail: chain.New(s.secret).First()} // compare goes on from the last segment
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
	r.record = journal.Restored{Kept: s.w.head, Had: s.ring.head.Size, Reason: r.Reason}
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
