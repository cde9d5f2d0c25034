package runtime

import (
	"context"
	"time"
)

// A BatchMode says how the calls of a batch follow each other.
type BatchMode uint8

// The modes of a batch.
const (
	Parallel   BatchMode = iota // all are admitted, in order, then run together
	Sequential                  // each ends before the next is admitted
)

// ExecuteBatch carries out the calls of one message of the model.
func (t *Turn) ExecuteBatch(ctx context.Context, calls []Call, mode BatchMode) []Outcome { return nil }

// RunDeclared makes the calls that the declaration gives complete arguments for.
func (t *Turn) RunDeclared(ctx context.Context) []Outcome { return nil }

// ModelStopped says that the model answered without a call.
func (r *Run) ModelStopped(ctx context.Context) RunStatus { return r.Status() }

// As returns r for the calls of another principal.
func (r *Run) As(principal string) *Run { return r }

// Child returns r for the calls of a sub-agent.
func (r *Run) Child(cfg RunConfig) *Run { return r }

// Periodic makes the calls of periodic tools until ctx is done or r is closed.
func (r *Run) Periodic(ctx context.Context) error { return nil }

// Await returns the outcome of a call, or a pending one when ctx is done before.
func (s *Session) Await(ctx context.Context, callID string) Outcome { return Outcome{} }

// Decide resolves a request.
func (e *Executor) Decide(ctx context.Context, requestID string, a Answer) Resolution {
	return Resolution{}
}

// Requests lists requests that wait for answers.
func (e *Executor) Requests() []*ConsentRequest { return nil }

// Request returns a request.
func (e *Executor) Request(id string) (*ConsentRequest, bool) { return nil, false }

// Grants lists grants.
func (e *Executor) Grants(f GrantFilter) []Grant { return nil }

// Revoke takes a grant back.
func (e *Executor) Revoke(ctx context.Context, grantID, by, reason string) Resolution {
	return Resolution{}
}

// ConsentOff answers all questions for a while.
func (e *Executor) ConsentOff(ctx context.Context, until time.Time, by, reason string) error {
	return nil
}

// Expire ends the requests that ran out and returns the ids of their calls.
func (e *Executor) Expire() []string { return nil }

// WithReminders sets how often a model that stops is reminded of required tools.
func WithReminders(n int) Option { return func(*Executor) {} }

// A DynamicOption adds a hook to a tool without types.
type DynamicOption func(*hooks)
