package engine

import (
	"context"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/overlap"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A LaterCall was made in the same session after a call that may be undone, may have changed
// something, and shares arguments or groups with the earlier call. An undo of the earlier call may
// reverse, or break, what the later call did.
type LaterCall struct {
	CallID, Tool string
	Shares       []string // JSON Pointers of its arguments that the earlier call also had, and "group NAME" of exclusive groups
}

// dryUndo returns the result that an undo of a call would have, as far as it is known before the
// undo handler runs.
func (s *Session) dryUndo(ctx context.Context, r *callRecord, by operator.Actor) *ActionError {
	if !s.exec.enterForUndo() {
		return &ActionError{Code: CodeJournalUnavailable}
	}
	defer s.exec.gate.Leave()
	if err := s.mayUndo(ctx, r, by, true); err != nil {
		return err
	}
	s.mu.Lock()
	why := s.undoRefusal(r)
	s.mu.Unlock()
	if why != "" {
		return &ActionError{Code: why}
	}
	if fault := r.call.undoAllowed(ctx, by); fault != nil {
		return r.call.undoFailed(fault)
	}
	return nil
}

// addLater adds to calls that would be undone the later calls that share something with them,
// except those that would be undone too.
func (s *Session) addLater(calls []UndoneCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	undone := map[string]bool{}
	first := s.lastNumber
	for i := range calls {
		if calls[i].Err == nil {
			undone[calls[i].CallID] = true
			first = min(first, s.calls.find(calls[i].CallID).number)
		}
	}
	var later []*callRecord
	for r := range s.calls.all() {
		if r.number > first && !undone[r.id] && s.mayHaveChanged(r) {
			later = append(later, r)
		}
	}
	slices.SortFunc(later, func(a, b *callRecord) int { return a.number - b.number })
	for i := range calls {
		if calls[i].Err != nil {
			continue
		}
		r := s.calls.find(calls[i].CallID)
		tool, _ := s.exec.lookup(r.tool)
		calls[i].Until = r.undo.ended.Add(ruleinput.UndoTTL(tool.spec))
		about := s.subjectOf(r)
		for _, other := range later {
			if other.number < r.number {
				continue
			}
			if shares := about.Shared(s.subjectOf(other)); len(shares) > 0 {
				calls[i].Later = append(calls[i].Later, LaterCall{CallID: other.id, Tool: other.tool, Shares: shares})
			}
		}
	}
}

// mayHaveChanged reports whether a call may have changed something that was not undone. s.mu is
// held.
func (s *Session) mayHaveChanged(r *callRecord) bool {
	tool, _ := s.exec.lookup(r.tool)
	switch {
	case tool != nil && tool.spec.Effect == runtime.SideEffectRead, r.undo.done:
		return false
	case !r.ended():
		return r.call != nil && r.call.reservation == reservedAndInvoked
	}
	out := r.outcome()
	return !out.RolledBack && (out.Kind == runtime.Completed || out.Kind == runtime.Unknown || out.Kind == runtime.TimedOut || r.undo.possible)
}

// subjectOf returns the subject of a call. s.mu is held.
func (s *Session) subjectOf(r *callRecord) (a overlap.Subject) {
	tool, _ := s.exec.lookup(r.tool)
	if tool == nil {
		return a
	}
	return overlap.Of(argumentsOf(tool, r), tool.spec.Rules.ExclusiveGroups)
}

// argumentsOf returns the arguments of a call as JSON: those that it ran with, if they are still
// known, otherwise those of its input. It is nil when neither is known.
func argumentsOf(tool *tool, r *callRecord) (text []byte) {
	defer func() {
		if recover() != nil { // a fault of the codec
			text = nil
		}
	}()
	if r.call != nil && r.call.final != nil {
		text, _ = wire.Append(nil, walk.Unruled{Of: r.call.final})
		return text
	}
	if r.digest {
		return nil
	}
	v, text, _, violations := tool.read(r.input)
	if v == nil || violations != nil {
		return nil
	}
	return text
}
