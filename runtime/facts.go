package runtime

import (
	"slices"
	"sync/atomic"
)

// Facts is what happened in a run, as one call saw it: an immutable snapshot. The zero value and
// nil have the facts of no call.
type Facts struct {
	version uint64
	tools   []ToolFacts
	few     [8]ToolFacts // room for the tools of a small registry
	derived atomic.Pointer[derivation]
}

// A derivation is what a policy derived from a snapshot, or the base from which it may derive that.
// It is immutable.
type derivation struct {
	memo    any   // what build returned; nil: build was not called
	base    any   // then: the memo of an earlier snapshot
	changed []int // the tools that changed since base
}

// ToolFacts is what happened with one tool in a run.
type ToolFacts struct {
	Invocations uint32 // handlers started, and calls that are admitted to start or wait for consent
	Successes   uint32 // calls that completed and were not undone
}

// Version grows with every change of the run's facts. Equal versions of one run
// hold equal facts.
func (f *Facts) Version() uint64 {
	if f == nil {
		return 0
	}
	return f.version
}

// Tool returns the facts of the tool at position i of the registry.
func (f *Facts) Tool(i int) ToolFacts {
	if f == nil || i < 0 || i >= len(f.tools) {
		return ToolFacts{}
	}
	return f.tools[i]
}

// Len returns the number of tools that f has facts of.
func (f *Facts) Len() int {
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
func (f *Facts) Memo(build func(base any, changed []int) any) any {
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

// maxChanged is how many changes a snapshot carries for Memo before it drops the base: then a
// complete build is as cheap.
const maxChanged = 64

// inherit returns the derivation for the snapshot after f, in which the tools at changed differ.
func (f *Facts) inherit(changed []int) *derivation {
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

// A factView is the facts of one run as one principal, or sub-agent, sees them.
// The session guards it.
type factView struct {
	state   uint64 // version of the rule state at the last comparison
	last    *Facts // the latest snapshot
	changed []int
}

// look returns the current facts of r. Two snapshots are the same pointer when nothing in them has
// changed. The session's lock is held.
func (r *Run) look() *Facts {
	v := &r.facts
	state := r.session.state
	if v.last != nil && v.state == state.Version() {
		return v.last
	}
	v.state = state.Version()
	used, successes := state.Counts(r.id, r.agent, r.principal)
	v.changed = v.changed[:0]
	if v.last != nil {
		for i := range v.last.tools {
			if v.last.tools[i] != factsAt(used, successes, i) {
				v.changed = append(v.changed, i)
			}
		}
		if len(v.changed) == 0 {
			return v.last
		}
	}
	next := &Facts{version: v.last.Version() + 1}
	if n := r.session.exec.reg.Len(); n <= len(next.few) {
		next.tools = next.few[:n]
	} else {
		next.tools = make([]ToolFacts, n)
	}
	for i := range next.tools {
		next.tools[i] = factsAt(used, successes, i)
	}
	if d := v.last.inherit(v.changed); d != nil {
		next.derived.Store(d)
	}
	v.last = next
	return next
}

// factsAt returns the facts of the i-th tool as a policy sees them.
func factsAt(used, successes []int32, i int) (f ToolFacts) {
	if i < len(used) {
		f.Invocations = uint32(used[i])
	}
	if i < len(successes) {
		f.Successes = uint32(successes[i])
	}
	return f
}

// without returns f for the evaluation of a call of the tool: without that call's own slot.
func (f *Facts) without(tool int) *Facts {
	own := &Facts{version: f.version, tools: slices.Clone(f.tools)}
	if n := &own.tools[tool].Invocations; *n > 0 {
		*n--
	}
	return own
}
