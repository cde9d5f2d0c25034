package facts

import "sync/atomic"

// A View is the facts on which a policy evaluates one call: those of the first call of Facts, which stay the same
// from then on. A policy that does not read the facts cannot have a stale decision. Open prepares it.
type View struct {
	reader   Reader
	base     *Snapshot                // as of the first read; guarded by the reader
	snapshot atomic.Pointer[Snapshot] // base without the call's own slot; nil: the policy has not read the facts
}

// A Reader reads the facts for a View.
type Reader interface {
	// ReadFacts returns what v.Read returns for the present facts. It holds the lock that guards them.
	ReadFacts(v *View) *Snapshot
}

// Open prepares v for another evaluation.
func (v *View) Open(r Reader) {
	v.reader, v.base = r, nil
	if v.snapshot.Load() != nil {
		v.snapshot.Store(nil)
	}
}

// Facts returns the facts of v. It makes v a Source.
func (v *View) Facts() *Snapshot {
	if f := v.snapshot.Load(); f != nil {
		return f
	}
	return v.reader.ReadFacts(v)
}

// Read returns the facts of v, which are the present ones if v was not read before: a policy may call Facts from
// several goroutines. own is the tool of a call that has a slot already, which its policy does not see; -1: it has
// none (SEMANTICS 3.5.1). The lock of the reader is held.
func (v *View) Read(present *Snapshot, own int) *Snapshot {
	if f := v.snapshot.Load(); f != nil {
		return f
	}
	v.base = present
	f := present
	if own >= 0 {
		f = f.Without(own)
	}
	v.snapshot.Store(f)
	return f
}

// Unchanged reports whether the facts that the policy read are still current. It asks for the present facts only if
// the policy has read any. The lock of the reader is held.
func (v *View) Unchanged(present func() *Snapshot) bool {
	return v.base == nil || v.base == present()
}
