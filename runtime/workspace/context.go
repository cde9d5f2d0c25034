package workspace

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
)

type contextKey struct{ ws *Workspace }

// WithTx returns a context whose writes belong to a transaction, for tests of
// handlers without an executor. An executor that has the workspace as a
// participant needs no such context.
func WithTx(ctx context.Context, tx *Tx) context.Context {
	return context.WithValue(ctx, contextKey{tx.ws}, tx)
}

// txOf returns the transaction that writes with ctx belong to: that of the call,
// which begins when it writes for the first time.
func (w *Workspace) txOf(ctx context.Context) (*Tx, error) {
	if tx, ok := ctx.Value(contextKey{w}).(*Tx); ok {
		return tx, nil
	}
	part, err := runtime.WritePartOf(ctx, w)
	if err != nil {
		return nil, err
	}
	return part.(*Tx), nil // Begin returns nothing else
}

// fenced carries out an effect under the fence of the call. Without a call there
// is no outcome that it could come after: a test has begun the transaction.
func (w *Workspace) fenced(ctx context.Context, effect func() error) error {
	if _, inCall := runtime.FromContext(ctx); !inCall {
		if _, ok := ctx.Value(contextKey{w}).(*Tx); ok {
			return w.owner.hold(effect)
		}
	}
	return runtime.Commit(ctx, func() error { return w.owner.hold(effect) })
}
