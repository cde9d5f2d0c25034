package engine

// Commit runs an effect under the fence of the attempt.
func (at *callContext) Commit(effect func() error) error {
	c := at.call
	c.mu.Lock()
	ok := c.life.EnterEffect(at.attempt)
	c.mu.Unlock()
	if !ok {
		return at.Fenced()
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leaveEffect()
	}()
	return c.exec.lease.Fence(at, effect)
}
