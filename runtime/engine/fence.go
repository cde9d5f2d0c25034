package engine

import "github.com/ambit-tools/ambit/runtime/internal/sched"

// shutFence lets no further effects in. It returns the signal that happens when the effects inside
// have ended, nil when there are none. c.mu is held.
func (c *call) shutFence() *sched.Event {
	if c.life.ShutFence() && c.drained == nil {
		c.drained = sched.NewEvent()
	}
	return c.drained
}

// leaveEffect ends an effect under the fence. c.mu is held.
func (c *call) leaveEffect() {
	if c.life.LeaveEffect() && c.drained != nil {
		c.exec.sched.Fire(c.drained)
		c.drained = nil
	}
}

// Commit runs an effect under the fence of the attempt.
func (at *callContext) Commit(effect func() error) error {
	c := at.call
	c.mu.Lock()
	ok := c.life.EnterEffect(at.attempt)
	c.mu.Unlock()
	if !ok {
		return c.fenced()
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leaveEffect()
	}()
	return c.exec.lease.Fence(at, effect)
}
