package functions

import (
	"context"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// Until returns what stops an evaluation whose context has ended. OPA calls it during
// the evaluation, which is cheaper than a goroutine per evaluation.
func Until(ctx context.Context) topdown.Cancel { return cancel{ctx} }

type cancel struct{ ctx context.Context }

func (c cancel) Cancel()         {}
func (c cancel) Cancelled() bool { return c.ctx.Err() != nil }
