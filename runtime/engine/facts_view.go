package engine

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/internal/facts"
)

// A factView is the facts of one run as one principal, or sub-agent, sees them.
// The session guards it.
type factView struct {
	state   uint64          // version of the rule state at the last comparison
	last    *facts.Snapshot // the latest snapshot
	changed []int
}

// currentFacts returns the current facts of r. Two snapshots are the same pointer when nothing in
// them has changed. The session's lock is held.
func (r *Run) currentFacts() *facts.Snapshot {
	v := &r.facts
	state := r.session.memory.Rules()
	if v.last != nil && v.state == state.Version() {
		return v.last
	}
	v.state = state.Version()
	used, successes := state.Counts(r.id, r.agent, r.principal)
	v.last = v.last.Next(r.session.exec.reg.Len(), used, successes, &v.changed)
	return v.last
}

// A view is the facts on which the policy evaluates a call: those of the first call of
// PolicyInput.Facts, which stay the same from then on. A policy that does not read the facts cannot
// have a stale decision.
type view struct {
	call     *call
	base     *facts.Snapshot                // as of the first read; guarded by the session
	snapshot atomic.Pointer[facts.Snapshot] // base without the call's own slot; nil: the policy has not read the facts
}

// open resets v for an evaluation of c.
func (v *view) open(c *call) {
	v.call, v.base = c, nil
	if v.snapshot.Load() != nil {
		v.snapshot.Store(nil)
	}
}

// Facts returns the facts of v.
func (v *view) Facts() *facts.Snapshot {
	if f := v.snapshot.Load(); f != nil {
		return f
	}
	c := v.call
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := v.snapshot.Load(); f != nil { // a policy may call Facts from several goroutines
		return f
	}
	v.base = c.run.currentFacts()
	f := v.base
	if c.approved() || c.life.Attempt() > 0 || c.needsReadmission {
		f = f.Without(c.tool.Index)
	}
	v.snapshot.Store(f)
	return f
}

// unchanged reports whether the facts that the policy read are still current. The session's lock is
// held.
func (v *view) unchanged() bool {
	return v.base == nil || v.base == v.call.run.currentFacts()
}
