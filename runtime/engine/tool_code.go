package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/attempt"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
)

var (
	_ attempt.Owner = (*call)(nil)
	_ attempt.Owner = (*undoRun)(nil)
)

// Info describes the call to code of its tool, with the consent that it has. c.mu is held.
func (c *call) Info() callctx.Info {
	info := c.ident.Info()
	if a := c.consent; a != nil && a.id != "" {
		info.Request, info.ApprovedBy = a.id, a.approvedBy
	} else if a != nil {
		info.Grant, info.ApprovedBy = a.grant, a.approvedBy
	}
	return info
}

// Info describes the call to code of its tool.
func (c *ident) Info() callctx.Info {
	cfg := c.run.session.cfg.Load()
	info := callctx.Info{
		ID: c.id, Tool: c.record.tool, Session: cfg.ID, Run: c.run.id, Agent: c.run.agent,
		Principal: c.run.principal, Behavior: cfg.Behavior, Undo: c.undoing, Metadata: c.metadata, Turn: c.turn.number, ClientRequest: c.request,
	}
	if c.tool != nil {
		info.Capabilities = c.tool.spec.Capabilities
	}
	return info
}

// Declaration returns the spec of the tool.
func (c *ident) Declaration() *runtime.Spec { return c.tool.spec }

// PartFault reports a fault of a participant.
func (c *ident) PartFault(err error) { c.exec.report(c.newFault(runtime.ReasonCommitFailed, err)) }

// key returns the key of the call's transaction.
func (c *ident) key() runtime.CallKey { return runtime.CallKey{Session: c.run.session.id, Call: c.id} }

// orBackground returns ctx, which may be nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
