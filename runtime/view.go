package runtime

import "sync/atomic"

// A view is the facts on which the policy evaluates a call: those of the first call of
// PolicyInput.Facts, which stay the same from then on. A policy that does not read the facts cannot
// have a stale decision.
type view struct {
	call  *call
	base  *Facts                // as of the first read; guarded by the session
	shown atomic.Pointer[Facts] // base without the call's own slot; nil: the policy has not read the facts
}

// open resets v for an evaluation of c.
func (v *view) open(c *call) {
	v.call, v.base = c, nil
	if v.shown.Load() != nil {
		v.shown.Store(nil)
	}
}

// facts returns the facts of v.
func (v *view) facts() *Facts {
	if f := v.shown.Load(); f != nil {
		return f
	}
	c := v.call
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := v.shown.Load(); f != nil { // a policy may call Facts from several goroutines
		return f
	}
	v.base = c.run.look()
	f := v.base
	if c.resumed() || c.attempt > 0 || c.readmits {
		f = f.without(c.index)
	}
	v.shown.Store(f)
	return f
}

// unchanged reports whether the facts that the policy read are still current. The session's lock is
// held.
func (v *view) unchanged() bool {
	return v.base == nil || v.base == v.call.run.look()
}
