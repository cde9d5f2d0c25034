// Package facts holds the snapshots of what happened in a run on which policies decide.
package facts

import (
	"slices"
	"sync/atomic"
)

// A Snapshot is what happened in a run, as one call saw it. It is immutable. The zero value and nil
// have the facts of no call.
type Snapshot struct {
	version uint64
	tools   []Tool
	few     [8]Tool // room for the tools of a small registry
	derived atomic.Pointer[derivation]
}

// A derivation is what a policy derived from a snapshot, or the base from which it may derive that.
// It is immutable.
type derivation struct {
	memo    any   // what build returned; nil: build was not called
	base    any   // then: the memo of an earlier snapshot
	changed []int // the tools that changed since base
}

// A Tool is what happened with one tool in a run.
type Tool struct {
	Invocations uint32 // handlers started, and calls that are admitted to start or wait for consent
	Successes   uint32 // calls that completed and were not undone
}

// A Source provides the facts of one evaluation of a policy.
type Source interface {
	// Facts returns the same snapshot every time. It is safe for concurrent use.
	Facts() *Snapshot
}

// Facts makes a Snapshot a Source.
func (f *Snapshot) Facts() *Snapshot { return f }

// Version grows with every change of the run's facts.
func (f *Snapshot) Version() uint64 {
	if f == nil {
		return 0
	}
	return f.version
}

// Tool returns the facts of the tool at position i of the registry.
func (f *Snapshot) Tool(i int) Tool {
	if f == nil || i < 0 || i >= len(f.tools) {
		return Tool{}
	}
	return f.tools[i]
}

// ByName returns the invocations of the tools that have any, and the tools that have a success, in the order of the
// registry. name returns the name of the tool at a position.
func (f *Snapshot) ByName(name func(int) string) (invocations map[string]int, succeeded []string) {
	invocations = map[string]int{}
	for i := range f.Len() {
		t := f.tools[i]
		if t.Invocations > 0 {
			invocations[name(i)] = int(t.Invocations)
		}
		if t.Successes > 0 {
			succeeded = append(succeeded, name(i))
		}
	}
	return invocations, succeeded
}

// Len returns the number of tools that f has facts of.
func (f *Snapshot) Len() int {
	if f == nil {
		return 0
	}
	return len(f.tools)
}

// Memo returns what build derives from f, and stores it for the next caller. A policy that needs
// the facts in another form builds it once per snapshot, from the form that it built for an earlier
// snapshot of the run.
//
// base is that earlier form and changed has the positions of the tools that differ from it,
// possibly repeated. When base is nil, build must build the whole form. build must not change base,
// which other calls may be reading, and must not return nil. A snapshot stores one form: the first
// one that was built.
func (f *Snapshot) Memo(build func(base any, changed []int) any) any {
	if f == nil {
		return build(nil, nil)
	}
	var base any
	var changed []int
	from := f.derived.Load()
	if from != nil {
		if from.memo != nil {
			return from.memo
		}
		base, changed = from.base, from.changed
	}
	f.derived.CompareAndSwap(from, &derivation{memo: build(base, changed)})
	return f.derived.Load().memo
}

// Next returns the snapshot after f, in which the n tools of the registry have these counts; f
// itself if they are the same. f may be nil, and a tool beyond the end of a list has the count 0.
// changed is room that is reused from one call to the next.
func (f *Snapshot) Next(n int, used, successes []int32, changed *[]int) *Snapshot {
	*changed = (*changed)[:0]
	if f != nil {
		for i := range f.tools {
			if f.tools[i] != toolAt(used, successes, i) {
				*changed = append(*changed, i)
			}
		}
		if len(*changed) == 0 {
			return f
		}
	}
	next := &Snapshot{version: f.Version() + 1}
	if n <= len(next.few) {
		next.tools = next.few[:n]
	} else {
		next.tools = make([]Tool, n)
	}
	for i := range next.tools {
		next.tools[i] = toolAt(used, successes, i)
	}
	if d := f.inherit(*changed); d != nil {
		next.derived.Store(d)
	}
	return next
}

// toolAt returns the facts of the i-th tool as a policy sees them.
func toolAt(used, successes []int32, i int) (f Tool) {
	if i < len(used) {
		f.Invocations = uint32(used[i])
	}
	if i < len(successes) {
		f.Successes = uint32(successes[i])
	}
	return f
}

// maxChanged is how many changes a snapshot carries for Memo before it drops the base: then a
// complete build is as cheap.
const maxChanged = 64

// inherit returns the derivation for the snapshot after f, in which the tools at changed differ.
func (f *Snapshot) inherit(changed []int) *derivation {
	if f == nil {
		return nil
	}
	d := f.derived.Load()
	switch {
	case d == nil:
	case d.memo != nil:
		return &derivation{base: d.memo, changed: slices.Clone(changed)}
	case d.base != nil && len(d.changed)+len(changed) <= maxChanged:
		return &derivation{base: d.base, changed: slices.Concat(d.changed, changed)}
	}
	return nil
}

// Without returns f for the evaluation of a call of the tool: without that call's own slot.
func (f *Snapshot) Without(tool int) *Snapshot {
	own := &Snapshot{version: f.version, tools: slices.Clone(f.tools)}
	if n := &own.tools[tool].Invocations; *n > 0 {
		*n--
	}
	return own
}
