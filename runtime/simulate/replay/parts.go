package replay

import (
	"context"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// transactional takes part in the calls that were rolled back, and in those whose
// commit was decided, so that they are again.
type transactional struct{ sim *simulation }

// Begin implements runtime.Participant.
func (p *transactional) Begin(_ context.Context, key runtime.CallKey) (runtime.Part, error) {
	return &part{p.sim, p.sim.rec.calls[journal.CallKey{Session: key.Session, Call: key.Call}]}, nil
}

// Unsettled implements runtime.Participant.
func (p *transactional) Unsettled(context.Context) (keys []runtime.CallKey, err error) {
	p.sim.mu.Lock()
	defer p.sim.mu.Unlock()
	for key, c := range p.sim.rec.calls {
		if c.transacts() && c.play.outcome == nil && slices.Contains(c.play.seen, runtime.EventStarted) {
			keys = append(keys, runtime.CallKey{Session: key.Session, Call: key.Call})
		}
	}
	return keys, nil
}

// Settle implements runtime.Participant.
func (*transactional) Settle(context.Context, runtime.CallKey, bool) error { return nil }

// transacts reports whether the recorded call did something through participants, as
// far as its outcome shows that.
func (c *call) transacts() bool {
	return c.outcome != nil && (c.outcome.RolledBack || c.sealed && c.outcome.Kind == runtime.Completed)
}

// A part is what a call does at a participant: nothing, and as decided as it was.
type part struct {
	sim *simulation
	c   *call // nil: the recording does not have it
}

// Seal implements runtime.Part.
func (p *part) Seal(context.Context) ([]byte, error) {
	if p.c != nil && p.c.sealed {
		return []byte("recorded"), nil
	}
	return nil, nil
}

// Commit implements runtime.Part. A commit that was decided ends when it ended.
func (p *part) Commit(context.Context) error {
	if p.c != nil && p.c.sealed {
		p.sim.wait(p.c.play.commits)
	}
	return nil
}

// Rollback implements runtime.Part.
func (*part) Rollback(context.Context) error { return nil }

// uncertain takes part in the calls of which it was not known how they had ended, so
// that it is not known again.
type uncertain struct{ transactional }

// Begin implements runtime.Participant.
func (p *uncertain) Begin(_ context.Context, key runtime.CallKey) (runtime.Part, error) {
	return &foreign{part{p.sim, p.sim.rec.calls[journal.CallKey{Session: key.Session, Call: key.Call}]}}, nil
}

// Unsettled implements runtime.Participant.
func (*uncertain) Unsettled(context.Context) ([]runtime.CallKey, error) { return nil, nil }

// A foreign part does not know whether it has committed.
type foreign struct{ part }

// Foreign implements runtime.ForeignPart.
func (*foreign) Foreign() {}

// Commit implements runtime.Part.
func (p *foreign) Commit(ctx context.Context) error {
	_ = p.part.Commit(ctx)
	return runtime.ErrMaybeCommitted
}
