package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
)

var errUnsettled = errors.New("something is left of calls that nothing is known of")

// undecidedParts are what participants hold of calls and undos of an earlier process. One goroutine uses them.
type undecidedParts struct {
	left   map[runtime.CallKey][]*transaction.Participant
	places map[string]string // where the participants keep parts
	report func(runtime.CallKey, error)
}

// findParts asks the participants for the parts. The error says that a participant does not answer. report is given
// each failure to settle a part later.
func findParts(ctx context.Context, at transaction.Participants, report func(runtime.CallKey, error)) (*undecidedParts, error) {
	left, err := at.Unsettled(ctx)
	return &undecidedParts{left, at.Places(), report}, err
}

// Moved reports a participant that keeps parts elsewhere than it did when the handler of a call or an undo started: what that
// has left cannot be found, and must not be taken for nothing (SEMANTICS 6.8.7).
func (p *undecidedParts) Moved(key runtime.CallKey, then map[string]string) (moved bool) {
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if then[name] != p.places[name] {
			moved = true
			p.report(key, fmt.Errorf("participant %q kept the parts of the call at the place %q, and this one is %q: open the one that it had, or find out what stands there", name, then[name], p.places[name]))
		}
	}
	return moved
}

// Take returns the participants with parts of a call or an undo, and forgets them.
func (p *undecidedParts) Take(key runtime.CallKey) []*transaction.Participant {
	at := p.left[key]
	delete(p.left, key)
	return at
}

// Settle commits or rolls back the parts of a call or an undo at participants. It reports whether all succeeded.
func (p *undecidedParts) Settle(ctx context.Context, key runtime.CallKey, at []*transaction.Participant, commit bool) bool {
	return transaction.Settle(ctx, key, at, commit, func(err error) { p.report(key, err) })
}

// SettleEnded settles what an earlier process, or recovery, could not settle of a call that has its outcome.
func (p *undecidedParts) SettleEnded(ctx context.Context, key runtime.CallKey, at []*transaction.Participant, of *history.Call) {
	kind := of.Outcome.Kind
	p.Settle(ctx, key, at, kind == runtime.Completed || kind == runtime.Unknown && of.Sealed != nil)
}

// SettlePast settles what is left of the calls that sessions have by reference, and of their undos.
func (p *undecidedParts) SettlePast(ctx context.Context, sessions map[string]*history.Session) {
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

// LeaveRest reports the parts of calls that the journal does not have, and leaves them: a handler starts once the journal has the
// start, so these are of another executor that shares the participant, or of a journal that is gone (SEMANTICS 6.8.7).
func (p *undecidedParts) LeaveRest() {
	for key, at := range p.left {
		for _, one := range at {
			p.report(key, fmt.Errorf("participant %q has parts of call %q of session %q, which this journal does not have: they are left to the executor that has, and if its journal is gone to Settle of the participant", one.Name, key.Call, key.Session))
		}
	}
}

// SettleRest rolls back the parts of all other calls: of an executor without a journal, which knows no earlier call.
func (p *undecidedParts) SettleRest(ctx context.Context) error {
	ok := true
	for key, at := range p.left {
		ok = p.Settle(ctx, key, at, false) && ok
	}
	if !ok {
		return errUnsettled
	}
	return nil
}
