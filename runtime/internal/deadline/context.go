// Package deadline bounds code of the application in time: a context that says how long the code may
// take, and a call of code that may not return.
package deadline

import (
	"context"
	"sync/atomic"
	"time"
)

// A Context is a context that its owner ends with Cancel. Unlike the contexts of package context it
// starts no timer, and it allocates no channel until Done is called. Its owner sets the fields before
// the first use. The methods are safe for concurrent use.
type Context struct {
	Parent context.Context
	Due    time.Time // zero: it has no deadline of its own

	cause  atomic.Uint32 // a Cause; 0: it has not ended
	closed atomic.Bool   // done is closed, or is being closed
	done   atomic.Value  // chan struct{}, made by the first call of Done
}

// A Cause says why a Context ended.
type Cause uint32

// Why a Context ended.
const (
	Canceled Cause = iota + 1
	Exceeded
)

// Deadline returns when the time is up: Due, or the deadline of the parent if that is earlier.
func (c *Context) Deadline() (time.Time, bool) {
	if due, ok := c.Parent.Deadline(); c.Due.IsZero() || ok && due.Before(c.Due) {
		return due, ok
	}
	return c.Due, true
}

// Done returns a channel that is closed when the context ends. The end of the parent does not end it.
func (c *Context) Done() <-chan struct{} {
	done, ok := c.done.Load().(chan struct{})
	if !ok {
		c.done.CompareAndSwap(nil, make(chan struct{}))
		done = c.done.Load().(chan struct{})
	}
	c.close(done)
	return done
}

// close closes done if the context has ended. Both Cancel and Done call it, so that neither misses
// the other.
func (c *Context) close(done chan struct{}) {
	if c.cause.Load() != 0 && c.closed.CompareAndSwap(false, true) {
		close(done)
	}
}

// Err returns why the context ended: context.DeadlineExceeded or context.Canceled.
func (c *Context) Err() error {
	switch Cause(c.cause.Load()) {
	case 0:
		return nil
	case Exceeded:
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// Value returns what the parent holds for key.
func (c *Context) Value(key any) any { return c.Parent.Value(key) }

// Cancel ends the context. The first cause counts.
func (c *Context) Cancel(why Cause) {
	if !c.cause.CompareAndSwap(0, uint32(why)) {
		return
	}
	if done, ok := c.done.Load().(chan struct{}); ok {
		c.close(done)
	}
}
