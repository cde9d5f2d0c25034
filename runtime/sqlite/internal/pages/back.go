package pages

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite/internal/chain"
)

// A Step is where the walk back through a session is.
type Step struct {
	Seq    uint64               // the next entry; 0: there is none
	Link   [chain.LinkSize]byte // how its authenticator begins, as the entry after it says
	Linked bool                 // there is such an entry
}

// Back returns at most limit entries of a session, from that of a step on, the last one first, and goes to
// the step after them. With keys it verifies each as it is, and as the one that the entry after it follows.
// With an error the step is at the entry that it is about.
func (s *Pool) Back(ctx context.Context, keys *chain.Secret, session string, at *Step, limit int) (list []journal.Entry, err error) {
	err = s.with(ctx, func(c *conn) error {
		for at.Seq > 0 && len(list) < limit {
			e, next, err := c.step(ctx, keys, at)
			if err == nil && e.Session != session {
				err = chain.ErrMAC
			}
			if err != nil {
				return err
			}
			list, *at = append(list, *e), next
		}
		return nil
	})
	return list, err
}

// At returns the entry at a position, and the step to the one that it follows in its session.
func (s *Pool) At(ctx context.Context, keys *chain.Secret, seq uint64) (e *journal.Entry, next Step, err error) {
	err = s.with(ctx, func(c *conn) (err error) {
		e, next, err = c.step(ctx, keys, &Step{Seq: seq})
		return err
	})
	return e, next, err
}

// step reads the entry of a step, and returns the next one.
func (s *conn) step(ctx context.Context, keys *chain.Secret, at *Step) (*journal.Entry, Step, error) {
	list, err := s.read(ctx, keys, at.Seq-1, 1)
	switch {
	case err != nil:
		return nil, Step{}, err
	case len(list) == 0:
		return nil, Step{}, ErrMissing
	}
	back := s.column.Back
	switch {
	case keys != nil && at.Linked && chain.LinkOf(s.column.MAC) != at.Link, back.Distance >= at.Seq:
		return nil, Step{}, chain.ErrMAC
	case back.Distance == 0:
		return &list[0], Step{}, nil
	}
	return &list[0], Step{at.Seq - back.Distance, back.Link, true}, nil
}
