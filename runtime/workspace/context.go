package workspace

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
)

type contextKey struct{ ws *Workspace }

// WithTx returns a context whose writes belong to a transaction. The executor
// gives handlers such contexts; tests of handlers may.
func WithTx(ctx context.Context, tx *Tx) context.Context {
	return context.WithValue(ctx, contextKey{tx.ws}, tx)
}

// txOf returns the transaction that writes with ctx belong to.
func (w *Workspace) txOf(ctx context.Context) (*Tx, error) {
	if tx, ok := ctx.Value(contextKey{w}).(*Tx); ok {
		return tx, nil
	}
	return nil, runtime.ErrNoCall
}
