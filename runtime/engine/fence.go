package engine

import "github.com/ambit-tools/ambit/runtime/internal/sched"

// A fence lets effects of a call through until it is shut. It is held while an effect runs: once it
// is shut and drained, the call has no further effects. The mutex of its call guards it.
type fence struct {
	closed  bool
	inside  int
	drained *sched.Event // happens when the fence is shut and no effect is inside
}

// shut lets no further effects in. It returns the signal that happens when the effects
// inside have left, nil when there are none.
func (f *fence) shut() *sched.Event {
	f.closed = true
	if f.inside > 0 && f.drained == nil {
		f.drained = sched.NewEvent()
	}
	return f.drained
}

// enter lets an effect in, unless the fence is shut. The effect is inside until it
// leaves: the goroutine that shuts the fence waits for it. c.mu is held.
func (f *fence) enter() bool {
	if f.closed {
		return false
	}
	f.inside++
	return true
}

// leave undoes an enter. c.mu is held.
func (f *fence) leave(e *Executor) {
	f.inside--
	if f.inside == 0 && f.drained != nil {
		e.sched.Fire(f.drained)
		f.drained = nil
	}
}

// Commit runs an effect under the fence of the attempt.
func (at *callContext) Commit(effect func() error) error {
	c := at.call
	c.mu.Lock()
	ok := agree(c, "effect", at.attempt == c.attempt && c.fence.enter(), c.life.EnterEffect(at.attempt))
	c.mu.Unlock()
	if !ok {
		return c.fenced()
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		agree(c, "drained", c.fence.drained != nil && c.fence.inside == 1, c.life.LeaveEffect())
		c.fence.leave(c.exec)
	}()
	return c.exec.owning(at, effect)
}
