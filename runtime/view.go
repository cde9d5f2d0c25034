package runtime

import "sync/atomic"

// A view is the facts on which the policy judges a call: those of the moment in
// which it first looks at them, and the same from then on. Facts that nobody looked
// at cannot make a decision stale.
type view struct {
	call  *call
	base  *Facts                // as they stood; guarded by the session
	shown atomic.Pointer[Facts] // the same without the call's own slot; nil: nobody has looked
}

// open makes v a view in which nobody has looked, on behalf of c.
func (v *view) open(c *call) {
	v.call, v.base = c, nil
	if v.shown.Load() != nil {
		v.shown.Store(nil)
	}
}

// facts returns what v shows.
func (v *view) facts() *Facts {
	if f := v.shown.Load(); f != nil {
		return f
	}
	c := v.call
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := v.shown.Load(); f != nil { // a policy may look from several goroutines
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

// unchanged reports whether what was seen in v still is so. The session's lock is held.
func (v *view) unchanged() bool {
	return v.base == nil || v.base == v.call.run.look()
}
