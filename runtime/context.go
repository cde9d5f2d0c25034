package runtime

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// A callContext is the context of a policy evaluation or of a handler. The goroutine
// that ends the call cancels it. It allocates no channel until Done is called.
type callContext struct {
	parent  context.Context
	call    *call // nil for a policy
	attempt int
	due     time.Time // zero: it has no deadline of its own

	why    atomic.Uint32 // it ended: one of the why constants; 0: it has not
	closed atomic.Bool   // done is closed, or is being closed
	done   atomic.Value  // chan struct{}, made by the first call of Done
}

// Why a callContext ended.
const (
	whyCanceled = iota + 1
	whyDeadline
)

// callKey is the key under which a context holds its callContext.
type callKey struct{}

// callOf returns the call that ctx was made for, nil when there is none.
func callOf(ctx context.Context) *call {
	if at := contextOf(ctx); at != nil {
		return at.call
	}
	return nil
}

// contextOf returns the context of the attempt that ctx was made for, nil when there is none.
func contextOf(ctx context.Context) *callContext {
	if ctx == nil {
		return nil
	}
	at, _ := ctx.Value(callKey{}).(*callContext)
	return at
}

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
	if c.why.Load() != 0 && c.closed.CompareAndSwap(false, true) {
		close(done)
	}
}

// Err returns why the context ended: context.DeadlineExceeded or context.Canceled.
func (c *callContext) Err() error {
	switch c.why.Load() {
	case 0:
		return nil
	case whyDeadline:
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// Value returns what the caller's context holds for key.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok && c.call != nil {
		return c
	}
	return c.parent.Value(key)
}

// cancel ends the context.
func (c *callContext) cancel(why uint32) {
	if !c.why.CompareAndSwap(0, why) {
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

// A CallInfo describes a call to its handler.
type CallInfo struct {
	ID, Tool, Session, Run string
	Agent                  string // the sub-agent that calls; empty: none
	Principal              string
	Behavior               string
	Attempt                int    // from 1
	Undo                   bool   // the call is being undone
	Fence                  uint64 // grows with every owner of the journal: a system that has seen a greater one should refuse; 0: no journal
	Metadata               map[string]string

	effect   rules.Digest // of the members that the tool declares; zero: it declares none
	deadline time.Time
	exec     *Executor
}

// FromContext returns the description of the call that ctx was made for. In an undo
// handler that is the call that is undone, with the deadline of the undo: Undo is set,
// and Key is the key with which the effect was made.
func FromContext(ctx context.Context) (CallInfo, bool) {
	c := callOf(ctx)
	if c == nil {
		return CallInfo{}, false
	}
	return c.info(), true
}

// info returns the description of c.
func (c *call) info() CallInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := c.run.session.cfg.Load()
	return CallInfo{
		ID: c.id, Tool: c.record.tool, Session: cfg.ID, Run: c.run.id, Agent: c.run.agent,
		Principal: c.run.principal, Behavior: cfg.Behavior, Attempt: c.attempt, Undo: c.undoing, Metadata: c.metadata,
		Fence: c.exec.log.epoch, effect: c.effect, deadline: c.running.due, exec: c.exec,
	}
}

// Deadline returns when the time of the attempt is up.
func (i CallInfo) Deadline() time.Time { return i.deadline }

// Remaining returns how much time the attempt has left, 0 when it is up.
func (i CallInfo) Remaining() time.Duration {
	if i.deadline.IsZero() {
		return 0
	}
	return max(i.exec.until(i.deadline), 0)
}
