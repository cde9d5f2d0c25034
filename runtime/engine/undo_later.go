package engine

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A laterCall is a call that shares something with an earlier one and is not undone with it.
type laterCall struct {
	*callRecord
	Shares []string // in a Read call: it is not known what the call was about, for this reason
}

// An overlapRules finds the calls that share something with calls that would be undone.
type overlapRules struct {
	Tool  func(name string) *tools.Tool // nil: it is not declared
	Final func(*call) wire.Value        // the arguments with which a call ran, nil when they are not known
}

// laterUnread returns the calls that AddLater needs of the journal: those after the first of calls that may have changed
// something and are held by reference.
func (m *memory) Unread(calls []action.UndoneCall, o overlapRules) (list []endedCall) {
	undone, _ := m.undone(calls)
	first := m.first(undone)
	for c := range m.ended.All() {
		if c.Number > first && mayHaveChanged(&c, o.Tool(c.Tool)) {
			list = append(list, c)
		}
	}
	return list
}

// laterUnread returns a call that could not be read, and may share anything with an earlier one.
func laterUnread(c *endedCall) laterCall {
	return laterCall{&callRecord{ID: c.ID, Tool: c.Tool, Number: c.Number}, []string{"what it was about cannot be read"}}
}

// first returns the number of the first call of undone.
func (m *memory) first(undone []*callRecord) int {
	first := m.number
	for _, r := range undone {
		first = min(first, r.Number)
	}
	return first
}

// laterCall returns, for each call of undone, the calls after it that may have changed something, share something
// with it and would not be undone. read are calls that were read from the journal for that.
func (m *memory) Later(undone []*callRecord, o overlapRules, read []laterCall) [][]laterCall {
	first := m.first(undone)
	var others []laterCall
	for r := range m.calls.all() {
		if r.Number > first && !slices.Contains(undone, r) && r.mayHaveChanged(o.Tool(r.Tool)) {
			others = append(others, laterCall{callRecord: r})
		}
	}
	for _, r := range read {
		if m.calls.find(r.ID) == nil { // it is in memory again
			others = append(others, r)
		}
	}
	slices.SortFunc(others, func(a, b laterCall) int { return a.Number - b.Number })
	all := make([][]laterCall, len(undone))
	for i, r := range undone {
		about := o.subject(r)
		for _, other := range others {
			if other.Number < r.Number {
				continue
			}
			shares := other.Shares
			if shares == nil {
				shares = about.Shared(o.subject(other.callRecord))
			}
			if len(shares) > 0 {
				all[i] = append(all[i], laterCall{other.callRecord, shares})
			}
		}
	}
	return all
}

// AddLater adds to the calls that were undone, or would be, until when that is possible and the later calls that
// share something with them. A call with an error was not undone. The tools of the other calls are declared, and
// their records are in memory.
func (m *memory) AddLater(calls []action.UndoneCall, o overlapRules, read []laterCall) {
	undone, results := m.undone(calls)
	for i, list := range m.Later(undone, o, read) {
		results[i].Until = undone[i].Undo.Ended.Add(ruleinput.UndoTTL(o.Tool(undone[i].Tool).Spec))
		for _, later := range list {
			results[i].Later = append(results[i].Later, action.LaterCall{CallID: later.ID, Tool: later.Tool, Shares: later.Shares})
		}
	}
}

// undone returns the calls that were undone, or would be.
func (m *memory) undone(calls []action.UndoneCall) (undone []*callRecord, results []*action.UndoneCall) {
	for i := range calls {
		if calls[i].Err == nil {
			undone, results = append(undone, m.Find(calls[i].CallID)), append(results, &calls[i])
		}
	}
	return undone, results
}

// mayHaveChanged reports whether a call may have changed something that was not undone.
func (r *callRecord) mayHaveChanged(t *tools.Tool) bool {
	switch {
	case t != nil && t.Spec.Effect == runtime.SideEffectRead, r.Undo.Done:
		return false
	case !r.Ended():
		return r.Reservation == reservedAndInvoked
	}
	return !r.RolledBack() && mayChange(r.Kind(), r.Undo.Possible)
}

// mayHaveChanged is Record.mayHaveChanged for a call that is held by reference.
func mayHaveChanged(c *endedCall, t *tools.Tool) bool {
	if t != nil && t.Spec.Effect == runtime.SideEffectRead || c.Undone || c.Back {
		return false
	}
	return mayChange(c.Kind, c.Started && t.Undoable())
}

// mayChange reports whether a call with an outcome may have changed something.
func mayChange(kind runtime.OutcomeKind, undoable bool) bool {
	return kind == runtime.Completed || kind == runtime.Unknown || kind == runtime.TimedOut || undoable
}

// subject returns what a call is about.
func (o *overlapRules) subject(r *callRecord) (a overlapSubject) {
	t := o.Tool(r.Tool)
	if t == nil {
		return a
	}
	var args []byte
	if final := o.Final(r.Live); final != nil {
		args = t.Arguments(final, nil)
	} else if !r.Digest {
		args = t.Arguments(nil, r.Input)
	}
	return overlapSubjectOf(args, t.Spec.Rules.ExclusiveGroups)
}
