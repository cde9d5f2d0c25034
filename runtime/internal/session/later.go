package session

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/overlap"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Later is a call that shares something with an earlier one and is not undone with it.
type Later[C any] struct {
	*Record[C]
	Shares []string
}

// An Overlap finds the calls that share something with calls that would be undone.
type Overlap[C any] struct {
	Tool  func(name string) *tools.Tool // nil: it is not declared
	Final func(C) wire.Value            // the arguments with which a call ran, nil when they are not known
}

// Later returns, for each call of undone, the calls after it that may have changed something, share something
// with it and would not be undone.
func (m *Memory[C]) Later(undone []*Record[C], o Overlap[C]) [][]Later[C] {
	first := m.number
	for _, r := range undone {
		first = min(first, r.Number)
	}
	var others []*Record[C]
	for r := range m.calls.all() {
		if r.Number > first && !slices.Contains(undone, r) && r.mayHaveChanged(o.Tool(r.Tool)) {
			others = append(others, r)
		}
	}
	slices.SortFunc(others, func(a, b *Record[C]) int { return a.Number - b.Number })
	all := make([][]Later[C], len(undone))
	for i, r := range undone {
		about := o.subject(r)
		for _, other := range others {
			if other.Number < r.Number {
				continue
			}
			if shares := about.Shared(o.subject(other)); len(shares) > 0 {
				all[i] = append(all[i], Later[C]{other, shares})
			}
		}
	}
	return all
}

// AddLater adds to the calls that were undone, or would be, until when that is possible and the later calls that
// share something with them. A call with an error was not undone. The tools of the other calls are declared.
func (m *Memory[C]) AddLater(calls []action.UndoneCall, o Overlap[C]) {
	var undone []*Record[C]
	var results []*action.UndoneCall // of undone
	for i := range calls {
		if calls[i].Err == nil {
			undone, results = append(undone, m.Find(calls[i].CallID)), append(results, &calls[i])
		}
	}
	for i, list := range m.Later(undone, o) {
		results[i].Until = undone[i].Undo.Ended.Add(ruleinput.UndoTTL(o.Tool(undone[i].Tool).Spec))
		for _, later := range list {
			results[i].Later = append(results[i].Later, action.LaterCall{CallID: later.ID, Tool: later.Tool, Shares: later.Shares})
		}
	}
}

// mayHaveChanged reports whether a call may have changed something that was not undone.
func (r *Record[C]) mayHaveChanged(t *tools.Tool) bool {
	switch {
	case t != nil && t.Spec.Effect == runtime.SideEffectRead, r.Undo.Done:
		return false
	case !r.Ended():
		return r.Reservation == ReservedAndInvoked
	}
	kind := r.Kind()
	return !r.RolledBack() && (kind == runtime.Completed || kind == runtime.Unknown || kind == runtime.TimedOut || r.Undo.Possible)
}

// subject returns what a call is about.
func (o *Overlap[C]) subject(r *Record[C]) (a overlap.Subject) {
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
	return overlap.Of(args, t.Spec.Rules.ExclusiveGroups)
}
