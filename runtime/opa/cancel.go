package opa

import "context"

// cancel stops an evaluation whose context has ended. OPA calls it during the
// evaluation, which is cheaper than a goroutine per evaluation.
type cancel struct{ ctx context.Context }

func (c cancel) Cancel() {}

func (c cancel) Cancelled() bool { return c.ctx.Err() != nil }
