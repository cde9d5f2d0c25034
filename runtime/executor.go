package runtime

import (
	"context"
	"time"
)

// An Executor executes calls of the tools in a registry under a policy. It is
// safe for concurrent use.
type Executor struct{}

// An Option changes an Executor.
type Option func(*Executor)

// NewExecutor returns an executor of the tools in reg, judged by policy.
func NewExecutor(reg *Registry, policy Policy, opts ...Option) (*Executor, error) { return nil, nil }

// WithSink adds a receiver of events.
func WithSink(s Sink) Option { return nil }

// WithErrorHandler sets who is told of panics, raw errors and faults of sinks.
func WithErrorHandler(f func(*CallError)) Option { return nil }

// WithObserver adds a function that is told the outcome of every call.
func WithObserver(f func(CallInfo, Outcome)) Option { return nil }

// WithMinimumBudget sets how much of the turn budget a call must find.
func WithMinimumBudget(d time.Duration) Option { return nil }

// WithPolicyTimeout sets how long a policy may take.
func WithPolicyTimeout(d time.Duration) Option { return nil }

// Shutdown stops admitting calls and waits for the handlers.
func (e *Executor) Shutdown(ctx context.Context) error { return nil }

// A CallError is a fault that an operator should see and a model should not.
type CallError struct {
	Tool, CallID, SessionID, RunID string

	Reason Reason
	Err    error
	Panic  any    // value of a panic, when there was one
	Stack  []byte // of that panic
}

// Error describes the fault.
func (e *CallError) Error() string { return "" }

// A CallInfo is what a handler may know of its call.
type CallInfo struct {
	ID, Tool, Session, Run, Principal, Behavior string

	Attempt  int
	Metadata map[string]string
	deadline time.Time
}

// FromContext returns the call that ctx was made for.
func FromContext(ctx context.Context) (CallInfo, bool) { return CallInfo{}, false }

// Remaining returns how long the attempt may still take.
func (c CallInfo) Remaining() time.Duration { return 0 }

// Commit carries out an effect under the fence of the call that ctx was made for.
func Commit(ctx context.Context, effect func() error) error { return nil }
