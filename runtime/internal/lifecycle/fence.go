package lifecycle

// A fence lets the effects of one attempt through while it is open.
type fence struct {
	open   bool
	inside int // effects that have begun and not ended
}

// FenceOpen reports whether effects of an attempt may begin (SEMANTICS 6.1.5 and 6.4).
func (c *Call) FenceOpen(attempt int) bool { return c.fence.open && attempt == c.attempt }

// EnterEffect lets an effect of an attempt in. It is inside until LeaveEffect, also when the call
// ends meanwhile: the fence is held over the effect and not checked before it (SEMANTICS 6.1.5).
func (c *Call) EnterEffect(attempt int) bool {
	if !c.FenceOpen(attempt) {
		return false
	}
	c.fence.inside++
	return true
}

// LeaveEffect ends an effect. It reports whether the fence is shut and this effect was the last
// one, so that the goroutine that waits for it can continue.
func (c *Call) LeaveEffect() (drained bool) {
	if c.fence.inside == 0 {
		return false
	}
	c.fence.inside--
	return c.fence.inside == 0 && !c.fence.open
}

// ShutFence lets no further effect of the attempt in, and reports whether one has not ended. A
// commit shuts the fence before it seals.
func (c *Call) ShutFence() (inside bool) {
	c.fence.open = false
	return c.fence.inside > 0
}
