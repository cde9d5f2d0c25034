package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
)

// A callContext is the context of a handler, in one attempt. The goroutine that ends the call cancels it.
type callContext struct {
	deadline.Context
	call    *call
	attempt int
}

var _ callctx.Handle[runtime.Participant, runtime.Part] = (*callContext)(nil)

// Value returns what the caller's context holds for key, and the attempt for callctx.Key.
func (at *callContext) Value(key any) any {
	if _, ok := key.(callctx.Key); ok {
		return at
	}
	return at.Context.Value(key)
}

// orBackground returns ctx, which may be nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Info describes the call of the attempt.
func (at *callContext) Info() callctx.Info { return at.call.info() }

// info describes c to its handler.
func (c *call) info() callctx.Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := c.run.session.cfg.Load()
	return callctx.Info{
		ID: c.id, Tool: c.record.tool, Session: cfg.ID, Run: c.run.id, Agent: c.run.agent,
		Principal: c.run.principal, Behavior: cfg.Behavior, Attempt: c.life.Attempt(), Undo: c.undoing, Metadata: c.metadata,
		Fence: c.exec.lease.Epoch(), Effect: c.effect, Deadline: c.running.Due, Now: c.exec.sched.Clock(),
	}
}
