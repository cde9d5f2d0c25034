package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/attempt"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// NewExecutor returns an executor of the tools in reg, under policy.
func NewExecutor(reg *runtime.Registry, policy runtime.Policy, opts ...Option) (*Executor, error) {
	if reg.Len() == 0 {
		return nil, errors.New("the registry is empty: an executor needs at least one tool")
	}
	if policy == nil {
		return nil, errors.New("the policy is nil: an executor without a policy would deny every call")
	}
	e := &Executor{reg: reg, tools: toolsOf(reg), policy: policy, operators: operator.Defaults{}, minimum: DefaultMinimumBudget, policyTimeout: runtime.DefaultPolicyTimeout}
	e.capacity.limit, e.maxOpenRequests = DefaultMaxInFlight, DefaultMaxOpenRequests
	for _, opt := range opts {
		opt(e)
	}
	if e.operators == nil {
		return nil, errors.New("the operator policy is nil: leave WithOperators out for that of operator.Defaults")
	}
	if e.minimum < 0 || e.policyTimeout <= 0 {
		return nil, fmt.Errorf("the minimum budget %v is negative or the policy timeout %v is not positive", e.minimum, e.policyTimeout)
	}
	if e.capacity.limit < 1 {
		return nil, fmt.Errorf("at most %d calls in flight: an executor works on one at least", e.capacity.limit)
	}
	if e.maxOpenRequests < 1 {
		return nil, fmt.Errorf("at most %d open requests of a session: nobody could ever be asked", e.maxOpenRequests)
	}
	if err := e.openDelivery(); err != nil {
		return nil, err
	}
	if err := e.checkArtifactStore(); err != nil {
		return nil, err
	}
	if err := e.compile(); err != nil {
		return nil, err
	}
	e.instantZero = zeroOf(e.sched.Now())
	e.openLog()
	e.attempts = attempt.Env{Sched: &e.sched, Lease: e.lease, Participants: e.participants, Live: publisher{e}, Grace: grace}
	e.openApprovals()
	e.workers.Open(&e.sched, e.instantZero, (*call).execute, (*call).expire)
	e.evaluations.Open(&e.sched, reg.Len(), e.policyTimeout)
	e.openTap()
	e.slots = make([]sched.Slots, reg.Len())
	for i, t := range e.tools {
		openSlots(&e.slots[i], t.spec.Limits)
	}
	e.openTally()
	return e, nil
}

// WithSink adds a sink for events.
func WithSink(s runtime.Sink) Option {
	return func(e *Executor) { e.delivery.Sinks = append(e.delivery.Sinks, s) }
}

// WithErrorHandler sets a function for faults that a model must not see: panics with their stacks,
// raw errors of handlers and policies, faults of sinks and observers. The executor calls f in its
// own goroutine, one fault at a time and in order. While f runs 8,192 faults wait; further ones are
// dropped, and f is told their number when it returns. Flush waits for f.
func WithErrorHandler(f func(*CallError)) Option {
	return func(e *Executor) { e.delivery.OnFault = f }
}

// WithMinimumBudget sets how much of the turn's budget must be left for a call to be
// considered. The default is wrong when turns are short.
func WithMinimumBudget(d time.Duration) Option {
	return func(e *Executor) { e.minimum = d }
}

// WithPolicyTimeout sets how long one evaluation of the policy may take, in time in
// which the process ran: it is counted in ticks of 10 ms, and a tick that comes late
// counts once. Waiting for a place among the evaluations does not count (SEMANTICS
// section 3.5). The default, one second, is wrong when the policy asks another process.
func WithPolicyTimeout(d time.Duration) Option {
	return func(e *Executor) { e.policyTimeout = d }
}

// WithClock sets the clock. The default is wrong when time is simulated.
func WithClock(c runtime.Clock) Option {
	return func(e *Executor) { e.sched.Use(c) }
}

// WithParticipant adds a participant under a name. The journal identifies the participant by the
// name, which must therefore never change.
func WithParticipant(name string, p runtime.Participant) Option {
	return func(e *Executor) {
		e.participants = append(e.participants, transaction.Participant{Name: name, Participant: p})
	}
}

// WithMaxInFlight sets how many calls the executor works on at once, 1,024 by default. The executor
// denies one more at_capacity at once, with Detail.RetryAfter, before the policy and the journal
// (SEMANTICS section 6.3). Calls that wait for consent do not count; handlers that have outlived
// their call do. The default is wrong when the calls in flight do not fit into memory, or when more
// callers than that share the executor and should wait instead of retrying.
func WithMaxInFlight(n int) Option {
	return func(e *Executor) { e.capacity.limit = int64(n) }
}

// WithApprover adds an approver that is notified of every request for consent.
func WithApprover(a runtime.Approver) Option {
	return func(e *Executor) { e.approvers = append(e.approvers, a) }
}

// WithPendingRequests says that the application polls Requests and answers through
// Decide. Calls that need consent then wait even when no approver was notified.
func WithPendingRequests() Option {
	return func(e *Executor) { e.polled = true }
}

// WithMaxOpenRequests sets how many requests of a session may wait for answers at once,
// 100 by default. A call that needs one more is denied too_many_pending. The default is
// wrong when sessions rightly ask for more than their approvers can read at a time,
// such as in a batch that a program approves.
func WithMaxOpenRequests(n int) Option {
	return func(e *Executor) { e.maxOpenRequests = n }
}

// DefaultMaxOpenRequests is how many requests of a session wait for answers at
// once when WithMaxOpenRequests does not say otherwise (SEMANTICS section 8).
const DefaultMaxOpenRequests = 100
