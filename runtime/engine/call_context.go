package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
)

// A callContext is the context of a policy evaluation or of a handler. The goroutine
// that ends the call cancels it. It allocates no channel until Done is called.
type callContext struct {
	parent  context.Context
	call    *call // nil for a policy
	attempt int
	due     time.Time // zero: it has no deadline of its own

	cause  atomic.Uint32 // it ended: one of the why constants; 0: it has not
	closed atomic.Bool   // done is closed, or is being closed
	done   atomic.Value  // chan struct{}, made by the first call of Done
}

// Why a callContext ended.
const (
	causeCanceled = iota + 1
	causeDeadline
)

var _ callctx.Handle[runtime.Participant, runtime.Part] = (*callContext)(nil)

// Deadline returns when the time of the attempt is up. An evaluation, whose limit is
// counted in ticks, has only the deadline of its caller.
func (c *callContext) Deadline() (time.Time, bool) {
	if due, ok := c.parent.Deadline(); c.due.IsZero() || ok && due.Before(c.due) {
		return due, ok
	}
	return c.due, true
}

// Done returns a channel that is closed when the context ends.
func (c *callContext) Done() <-chan struct{} {
	done, ok := c.done.Load().(chan struct{})
	if !ok {
		c.done.CompareAndSwap(nil, make(chan struct{}))
		done = c.done.Load().(chan struct{})
	}
	c.close(done)
	return done
}

// close closes done if the context has ended. Both cancel and Done call it, so that
// neither misses the other.
func (c *callContext) close(done chan struct{}) {
	if c.cause.Load() != 0 && c.closed.CompareAndSwap(false, true) {
		close(done)
	}
}

// Err returns why the context ended: context.DeadlineExceeded or context.Canceled.
func (c *callContext) Err() error {
	switch c.cause.Load() {
	case 0:
		return nil
	case causeDeadline:
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// Value returns what the caller's context holds for key.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callctx.Key); ok && c.call != nil {
		return c
	}
	return c.parent.Value(key)
}

// cancel ends the context.
func (c *callContext) cancel(why uint32) {
	if !c.cause.CompareAndSwap(0, why) {
		return
	}
	if done, ok := c.done.Load().(chan struct{}); ok {
		c.close(done)
	}
}

// orBackground returns ctx, which may be nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Info describes the call of the attempt.
func (c *callContext) Info() callctx.Info { return c.call.info() }

// info describes c to its handler.
func (c *call) info() callctx.Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := c.run.session.cfg.Load()
	return callctx.Info{
		ID: c.id, Tool: c.record.tool, Session: cfg.ID, Run: c.run.id, Agent: c.run.agent,
		Principal: c.run.principal, Behavior: cfg.Behavior, Attempt: c.life.Attempt(), Undo: c.undoing, Metadata: c.metadata,
		Fence: c.exec.lease.Epoch(), Effect: c.effect, Deadline: c.running.due, Now: c.exec.sched.Clock(),
	}
}
