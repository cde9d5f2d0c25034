//go:build !mutant_fence

package runtime

// enter lets an effect in, unless the fence is shut. The effect is inside until
// it leaves: whoever shuts the fence waits for it. c.mu is held.
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
		e.fire(f.drained)
		f.drained = nil
	}
}
