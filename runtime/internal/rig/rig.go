// Package rig is the back door through which a simulation reaches into an
// executor: what a real application has no business with, and a scenario needs.
package rig

import (
	"context"
	"time"
)

// A Key proves that the caller belongs to the module: nobody outside of
// package runtime and the packages below it can name the type.
type Key struct{}

// A Rig says how the attempts of calls go.
type Rig struct {
	// Deadline tells after what time an attempt of a call is given up, whatever
	// its tool declares; false leaves it at that.
	Deadline func(callID string) (time.Duration, bool)
}

type contextKey struct{}

// With returns a context whose calls follow r.
func With(ctx context.Context, r *Rig) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// Deadline returns after what time an attempt of a call made with ctx is given up.
func Deadline(ctx context.Context, callID string) (time.Duration, bool) {
	r, _ := ctx.Value(contextKey{}).(*Rig)
	if r == nil {
		return 0, false
	}
	return r.Deadline(callID)
}
