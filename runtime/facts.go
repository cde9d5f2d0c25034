package runtime

import (
	"slices"
	"sync"
)

// Facts is what happened in a run, as one call saw it: an immutable snapshot.
// The zero value and nil know of no call.
type Facts struct {
	version uint64
	tools   []ToolFacts
	few     [8]ToolFacts // room for the tools of a small registry

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
// the facts in a form of its own builds it once per snapshot, and out of the
// form that it built for an earlier snapshot of the run.
//
// base is that earlier form and changed the positions of the tools that differ
// from it, possibly repeated; when base is nil everything must be built. build
// must not change base, which other calls may be reading, and must not return
// nil. There is one slot per snapshot: the first answer stays.
func (f *Facts) Memo(build func(base any, changed []int) any) any {
	if f == nil {
		return build(nil, nil)
	}
	f.mu.Lock()
	memo, base, changed := f.memo, f.base, f.changed
	f.mu.Unlock()
	if memo != nil {
		return memo
	}
	// Not under the lock: a build that hangs must not hang the run.
	memo = build(base, changed)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.memo == nil {
		f.memo, f.base, f.changed = memo, nil, nil
	}
	return f.memo
}

// maxChanged is how many changes a snapshot carries for Memo before it drops
// the base: building anew is then as cheap.
const maxChanged = 64

// inherit takes over from f what the Memo of the snapshot after it starts with.
func (f *Facts) inherit(changed []int) (base any, all []int) {
	if f == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.memo != nil:
		return f.memo, slices.Clone(changed)
	case f.base != nil && len(f.changed)+len(changed) <= maxChanged:
		return f.base, slices.Concat(f.changed, changed)
	}
	return nil, nil
}

// A factBook is the state that Facts are snapshots of. Its owner locks it.
type factBook struct {
	tools   []ToolFacts
	version uint64
	last    *Facts // the latest snapshot
	changed []int  // tools that changed since last
}

// change notes that the facts of tool i change, and returns them.
func (b *factBook) change(i int) *ToolFacts {
	b.version++
	if b.last != nil {
		b.changed = append(b.changed, i)
	}
	return &b.tools[i]
}

// snapshot returns the facts as they stand.
func (b *factBook) snapshot() *Facts {
	if b.last == nil || b.last.version != b.version {
		next := &Facts{version: b.version}
		next.tools = append(next.few[:0], b.tools...)
		next.base, next.changed = b.last.inherit(b.changed)
		b.last, b.changed = next, b.changed[:0]
	}
	return b.last
}
