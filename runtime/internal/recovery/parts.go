package recovery

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
)

var errUnsettled = errors.New("something is left of calls that nothing is known of")

// Parts are what participants hold of calls and undos of an earlier process. One goroutine uses them.
type Parts struct {
	left   map[runtime.CallKey][]*transaction.Participant
	report func(runtime.CallKey, error)
}

// Find asks the participants for the parts. The error says that a participant does not answer. report is given
// each failure to settle a part later.
func Find(ctx context.Context, at transaction.Participants, report func(runtime.CallKey, error)) (*Parts, error) {
	left, err := at.Unsettled(ctx)
	return &Parts{left, report}, err
}

// Take returns the participants with parts of a call or an undo, and forgets them.
func (p *Parts) Take(key runtime.CallKey) []*transaction.Participant {
	at := p.left[key]
	delete(p.left, key)
	return at
}

// Settle commits or rolls back the parts of a call or an undo at participants. It reports whether all succeeded.
func (p *Parts) Settle(ctx context.Context, key runtime.CallKey, at []*transaction.Participant, commit bool) bool {
	return transaction.Settle(ctx, key, at, commit, func(err error) { p.report(key, err) })
}

// SettleEnded settles what an earlier process, or recovery, could not settle of a call that has its outcome.
func (p *Parts) SettleEnded(ctx context.Context, key runtime.CallKey, at []*transaction.Participant, of *history.Call) {
	kind := of.Outcome.Kind
	p.Settle(ctx, key, at, kind == runtime.Completed || kind == runtime.Unknown && of.Sealed != nil)
}

// SettlePast settles what is left of the calls that sessions have by reference, and of their undos.
func (p *Parts) SettlePast(ctx context.Context, sessions map[string]*history.Session) {
	if len(p.left) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		for _, c := range sessions[id].ByReference {
			key := runtime.CallKey{Session: id, Call: c.Call}
			p.Settle(ctx, key, p.Take(key), c.Kind == runtime.Completed.String())
			key.Undo = true
			p.Settle(ctx, key, p.Take(key), c.Undone)
		}
	}
}

// SettleRest rolls back the parts of calls that the journal does not have. Their start was never recorded, so no
// caller got an outcome.
func (p *Parts) SettleRest(ctx context.Context) error {
	ok := true
	for key, at := range p.left {
		ok = p.Settle(ctx, key, at, false) && ok
	}
	if !ok {
		return errUnsettled
	}
	return nil
}
