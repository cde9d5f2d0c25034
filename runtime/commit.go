package runtime

import (
	"context"
	"errors"
)

// The errors of Commit.
var (
	// ErrFenced says that the call already has its outcome and may have no further effects.
	ErrFenced = errors.New("the call has ended: it may have no more effects")
	// ErrNoCall says that a context does not belong to a call.
	ErrNoCall = errors.New("the context is not that of a call: pass on the one that the handler got")
)

// A fence lets effects of a call through until it is shut. It is held while an effect runs: once it
// is shut and drained, the call has no further effects. The mutex of its call guards it.
type fence struct {
	closed  bool
	inside  int
	drained *signal // happens when the fence is shut and no effect is inside
}

// shut lets no further effects in. It returns the signal that happens when the effects
// inside have left, nil when there are none.
func (f *fence) shut() *signal {
	f.closed = true
	if f.inside > 0 && f.drained == nil {
		f.drained = newSignal()
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
		e.fire(f.drained)
		f.drained = nil
	}
}

// Commit runs an effect under the fence of the call, or of the undo handler, that ctx was made for.
// Once the call has its outcome, because its time was up, because it was cancelled or because its
// handler returned, Commit does not call effect and returns ErrFenced.
//
// With a journal that has owners (journal.Fencer, such as that of package sqlite) Commit compares
// the stored epoch with that of this executor before the effect, and no other process can take the
// journal over before the effect has ended. When another process has taken it over, Commit does not
// call effect and returns ErrFenced (SEMANTICS section 6.9). For effects elsewhere CallInfo.Fence
// is that epoch: a system that has seen a greater one should refuse.
//
// The outcome of a call waits up to five seconds for an effect that has begun, and says
// so when the effect did not end. Keep an effect short, such as a rename or a
// transaction's commit, and prepare it outside. An effect must not wait for the call
// itself. Effects of one call may run concurrently.
func Commit(ctx context.Context, effect func() error) error {
	at := contextOf(ctx)
	if at == nil {
		return ErrNoCall
	}
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
	return c.exec.owning(ctx, effect)
}
