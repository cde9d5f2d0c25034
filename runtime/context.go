package runtime

import (
	"context"
	"sync"
	"time"
)

// errDeadline is what contexts of a call say whose time was up.
var errDeadline = context.DeadlineExceeded

// A callContext is the context of a policy evaluation or of a handler. It ends
// when whoever watches the call ends it, and costs nothing until somebody waits.
type callContext struct {
	parent context.Context
	call   *call // nil for a policy
	due    time.Time

	mu   sync.Mutex
	done chan struct{}
	err  error
}

// callKey is the key under which a context knows its call.
type callKey struct{}

// callOf returns the call that ctx was made for, nil when there is none.
func callOf(ctx context.Context) *call {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Deadline returns when the time of the attempt, or of the evaluation, is up.
func (c *callContext) Deadline() (time.Time, bool) {
	if due, ok := c.parent.Deadline(); ok && due.Before(c.due) {
		return due, true
	}
	return c.due, true
}

// Done returns a channel that is closed when the context ends.
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err says why the context ended: context.DeadlineExceeded or context.Canceled.
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value returns what the caller's context holds for key.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok && c.call != nil {
		return c.call
	}
	return c.parent.Value(key)
}

// cancel ends the context.
func (c *callContext) cancel(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
}

// A CallInfo is what a handler may know of its call.
type CallInfo struct {
	ID, Tool, Session, Run string

	Principal string
	Behavior  string
	Attempt   int // from 1
	Metadata  map[string]string

	deadline time.Time
}

// FromContext returns what is known of the call that ctx was made for.
func FromContext(ctx context.Context) (CallInfo, bool) {
	c := callOf(ctx)
	if c == nil {
		return CallInfo{}, false
	}
	return c.info(), true
}

// info returns what is known of c.
func (c *call) info() CallInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := &c.run.session.cfg
	return CallInfo{
		ID: c.in.ID, Tool: c.in.Tool, Session: cfg.ID, Run: c.run.id,
		Principal: cfg.Principal, Behavior: cfg.Behavior, Attempt: c.attempt, Metadata: c.in.Metadata,
		deadline: c.handlerCtx.due,
	}
}

// Deadline returns when the time of the attempt is up.
func (i CallInfo) Deadline() time.Time { return i.deadline }

// Remaining returns how much time the attempt has left, 0 when it is up.
func (i CallInfo) Remaining() time.Duration {
	if i.deadline.IsZero() {
		return 0
	}
	return max(time.Until(i.deadline), 0)
}
