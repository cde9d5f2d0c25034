package audit

import (
	"context"
	"errors"
)

// A Keyed is a store that is compared with its keys, as the *Reader of runtime/store/sqlite is that was opened with
// them.
type Keyed interface {
	// Authenticate compares the store with the head in its keys file, and returns the last position.
	Authenticate(ctx context.Context) (entries uint64, err error)
	// VerifySessions verifies where each session ends.
	VerifySessions(ctx context.Context) error
	// Head returns the last position.
	Head(ctx context.Context) (uint64, error)
}

// An older store is what an error says of one that does not go as far as its keys file.
type older interface {
	error
	RolledBack()
}

// A misindexed entry is one of which an index of the store says what the entry does not.
type misindexed interface {
	error
	IndexedAt() uint64
}

// CompareIndex compares an index with the entries that a verification has read, as the *IndexCheck of runtime/store/sqlite does, and adds
// to r what is wrong with it. With a fault already it does nothing.
func (r *Report) CompareIndex(ctx context.Context, c interface {
	Compare(ctx context.Context, after uint64) error
}) error {
	if r.Bad != nil {
		return nil
	}
	err := c.Compare(ctx, r.Resumed)
	i := misindexed(nil)
	if !errors.As(err, &i) {
		return err
	}
	r.Resume = nil
	r.close(&Fault{ClassIndex, max(i.IndexedAt(), 1), max(i.IndexedAt(), 1), err.Error()})
	return nil
}

// Authenticate compares a store with its keys and adds to r how many entries they prove, or the fault of an error that is
// about the store: a Damage, a forgery, an index that does not fit or an older store. Other errors are returned.
func (r *Report) Authenticate(ctx context.Context, s Keyed) error {
	n, err := s.Authenticate(ctx)
	if err == nil {
		err = s.VerifySessions(ctx)
	}
	if err == nil {
		r.Authenticated(n, nil)
		return nil
	}
	if o := older(nil); errors.As(err, &o) {
		head, fault := s.Head(ctx)
		if fault != nil {
			return fault
		}
		r.Authenticated(head, &Fault{ClassCut, head + 1, head + 1, err.Error()})
		return nil
	}
	if i := misindexed(nil); errors.As(err, &i) {
		r.Authenticated(n, &Fault{ClassIndex, i.IndexedAt(), i.IndexedAt(), err.Error()})
		return nil
	}
	damage, known := damageOf(err)
	if !known {
		return err
	}
	class, at := ClassUnreadable, damage.DamagedAt()
	if _, by := damage.(forged); by {
		class = ClassForged
	}
	switch {
	case at > 0:
		r.Authenticated(at-1, &Fault{class, at, at, err.Error()})
	case class == ClassForged: // it is about no entry
		r.Authenticated(n, &Fault{ClassSession, 1, max(n, 1), err.Error()})
	default:
		return err
	}
	return nil
}
