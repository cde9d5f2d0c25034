// Package simhooks lets a simulation control an executor in ways that a scenario needs
// and that a real application must not use.
package simhooks

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// Hooks say how the attempts of calls go. Recover fills in what an executor offers to a simulation.
type Hooks struct {
	// Deadline returns after what time an attempt of a call is given up, instead of
	// the deadline that its tool declares; false keeps the declared one.
	Deadline func(callID string) (time.Duration, bool)

	// Recorded reports whether a call is made again as it was recorded: neither the rules nor the limits of its tool refuse it,
	// and the consent that it returns is declared instead of the one of the tool; nil: none is.
	Recorded func(callID string) (declared *runtime.Consent, yes bool)

	// InFlight is set for WhatIf about a call that is in flight: it takes no place of its own under the limits.
	InFlight bool

	// Context makes the context of a call that no context of a caller ends: one that
	// is triggered, or that recovery goes on with. nil: the background.
	Context func(session, callID string) context.Context

	// Evaluations is how many evaluations of the policy run at once; 0: as many as in
	// an application.
	Evaluations int

	// Skip reports whether recovery skips a call that has no outcome, as a recovery
	// does that ends before it reaches the call; nil: it skips none.
	Skip func(session, callID string) bool

	// Tamper is set by Recover. It changes the arguments of a call that waits for
	// consent, without the checks of an edit, to show that such a call does not run.
	Tamper func(session, callID string, input []byte) error

	// Sync is set by Recover. It makes all that was recorded so far durable: a replay
	// takes the journal over after it, because all entries of a recording were durable.
	Sync func() error

	// Snapshot is set by Recover. It writes a snapshot of a session, empty for what belongs to none, and a page
	// where at least so many ended calls are on none.
	Snapshot func(ctx context.Context, session string, least int) error

	// Unload is set by Recover. It lets the sessions leave memory in which nothing is open, and returns how many have
	// left. In a simulation no session leaves otherwise.
	Unload func() int
}

// ContextOf returns the context of a call that does not end with a caller's context. h may be nil.
func (h *Hooks) ContextOf(session, callID string) context.Context {
	if h == nil || h.Context == nil {
		return context.Background()
	}
	return h.Context(session, callID)
}

// Skips reports whether recovery skips a call. h may be nil.
func (h *Hooks) Skips(session, callID string) bool {
	return h != nil && h.Skip != nil && h.Skip(session, callID)
}

type contextKey struct{}

// With returns a context whose calls follow r.
func With(ctx context.Context, r *Hooks) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// From returns the hooks of the calls that are made with ctx, nil when there is none.
func From(ctx context.Context) *Hooks {
	r, _ := ctx.Value(contextKey{}).(*Hooks)
	return r
}

// Deadline returns after what time an attempt of a call made with ctx is given up.
func Deadline(ctx context.Context, callID string) (time.Duration, bool) {
	r := From(ctx)
	if r == nil || r.Deadline == nil {
		return 0, false
	}
	return r.Deadline(callID)
}

// Recorded reports whether a call made with ctx is made again as it was recorded, and returns the consent that is declared for it.
func Recorded(ctx context.Context, callID string) (declared *runtime.Consent, yes bool) {
	r := From(ctx)
	if r == nil || r.Recorded == nil {
		return nil, false
	}
	return r.Recorded(callID)
}

// InFlight reports whether WhatIf is asked with ctx about a call that is in flight.
func InFlight(ctx context.Context) bool {
	r := From(ctx)
	return r != nil && r.InFlight
}
