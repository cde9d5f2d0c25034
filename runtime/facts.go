package runtime

import "sync"

// Facts is what happened in a run, as one call saw it: an immutable snapshot.
// The zero value and nil know of no call.
type Facts struct {
	version uint64
	tools   []ToolFacts

	mu      sync.Mutex
	memo    any   // what a policy derived from this snapshot
	base    any   // the memo of an earlier snapshot
	changed []int // tools that changed since base
}

// ToolFacts is what happened with one tool in a run.
type ToolFacts struct {
	Invocations uint32 // handlers started, and calls that are admitted to start
	Successes   uint32
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

// Memo returns what build derives from f, and remembers it: a policy that needs
// the facts in a form of its own builds it once per snapshot, and from the form
// that it built for an earlier snapshot of the run.
//
// base is that earlier form and changed the positions of the tools that differ
// from it; when base is nil everything must be built. build must not change
// base, which other calls may be reading. All callers share one slot.
func (f *Facts) Memo(build func(base any, changed []int) any) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.memo == nil {
		f.memo = build(f.base, f.changed)
		f.base, f.changed = nil, nil
	}
	return f.memo
}

// maxChanged is how many changes a snapshot carries for Memo before it drops
// the base: building anew is then as cheap.
const maxChanged = 64

// next returns the snapshot of tools that follows f after the tools at changed.
func (f *Facts) next(version uint64, tools []ToolFacts, changed []int) *Facts {
	n := &Facts{version: version, tools: append(make([]ToolFacts, 0, len(tools)), tools...)}
	if f == nil {
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.memo != nil:
		n.base, n.changed = f.memo, append([]int(nil), changed...)
	case f.base != nil && len(f.changed)+len(changed) <= maxChanged:
		n.base = f.base
		n.changed = append(append(make([]int, 0, len(f.changed)+len(changed)), f.changed...), changed...)
	}
	return n
}
