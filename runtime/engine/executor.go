package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// DefaultMinimumBudget is how much of a turn's budget must be left for a call to be considered.
const DefaultMinimumBudget = 5 * time.Second

// grace is how long an outcome waits for effects under the fence that had begun before the call ended.
const grace = lifecycle.GracePeriod

// An Executor executes calls of the tools in a registry under a policy. It is safe for
// concurrent use. The zero value refuses to start runs.
type Executor struct {
	reg          *runtime.Registry
	tools        []tool // of reg, in its order
	policy       runtime.Policy
	tapped       tap.Tap      // nil: there is none
	follower     tap.Follower // of tapped; nil: there is none
	sinks        []*sinkQueue
	observers    []func(runtime.CallInfo, runtime.Outcome)
	onError      func(*CallError) // nil: there is none
	faults       outbox[*CallError]
	observing    sched.Count // counts the observers that are being called
	sched        sched.Scheduler
	approvers    []runtime.Approver
	participants []participant
	polled       bool // the application polls Requests
	reminders    int
	artifacts    runtime.ArtifactStore                // nil: no tool declares artifact
	noted        func(session string, ev rules.Event) // gets every change of a rule state; nil: none is set

	engine    *rules.Engine
	wants     []rules.Wants   // by position in the registry
	requires  bool            // some tool is required before the end of a run
	zero      time.Time       // the instant 0
	journal   journal.Journal // nil: nothing is recorded
	inputs    digestKey
	log       *commitlog.Writer // nil: there is no journal
	lease     *lease.Lease      // nil: there is no journal
	sessions  sessions
	seen      seenCommands
	approvals approvals
	undos     undoAttempts
	minimum   time.Duration
	hooks     *simhooks.Rig // of a simulation; nil: this is not one
	patience  time.Duration // how long an evaluation of the policy may take

	evaluations evaluations
	slots       []sched.Slots // by position in the registry
	lingering   atomic.Int64  // handlers that still run although their call has ended
	capacity    capacity
	gate        sched.Gate
	workers     workerPool

	emitting sync.Mutex    // sinks get one event at a time, in the order of Seq
	event    runtime.Event // the latest one
}

// An Option changes an Executor while NewExecutor makes it.
type Option func(*Executor)

// NewExecutor returns an executor of the tools in reg, under policy.
func NewExecutor(reg *runtime.Registry, policy runtime.Policy, opts ...Option) (*Executor, error) {
	if reg.Len() == 0 {
		return nil, errors.New("the registry is empty: an executor needs at least one tool")
	}
	if policy == nil {
		return nil, errors.New("the policy is nil: an executor without a policy would deny every call")
	}
	e := &Executor{reg: reg, tools: bound(reg), policy: policy, minimum: DefaultMinimumBudget, patience: runtime.DefaultPolicyTimeout}
	e.capacity.most, e.approvals.most = DefaultMaxInFlight, DefaultMaxOpenRequests
	for _, opt := range opts {
		opt(e)
	}
	if e.minimum < 0 || e.patience <= 0 {
		return nil, fmt.Errorf("the minimum budget %v is negative or the policy timeout %v is not positive", e.minimum, e.patience)
	}
	if e.capacity.most < 1 {
		return nil, fmt.Errorf("at most %d calls in flight: an executor works on one at least", e.capacity.most)
	}
	if e.approvals.most < 1 {
		return nil, fmt.Errorf("at most %d open requests of a session: nobody could ever be asked", e.approvals.most)
	}
	for _, q := range e.sinks {
		if q.sink == nil {
			return nil, errors.New("a sink is nil: leave WithSink out")
		}
		q.open(e, q.sink)
	}
	e.openFaults()
	if err := e.storable(); err != nil {
		return nil, err
	}
	if err := e.compile(); err != nil {
		return nil, err
	}
	e.zero = zeroOf(e.sched.Now())
	e.openLog()
	e.approvals.open(e)
	e.evaluations.open(reg.Len(), e.patience)
	e.openTap()
	e.slots = make([]sched.Slots, reg.Len())
	for i, t := range e.tools {
		openSlots(&e.slots[i], t.spec.Limits)
	}
	return e, nil
}

// WithSink adds a sink for events.
func WithSink(s runtime.Sink) Option {
	return func(e *Executor) { e.sinks = append(e.sinks, &sinkQueue{sink: s}) }
}

// WithErrorHandler sets a function for faults that a model must not see: panics with their stacks,
// raw errors of handlers and policies, faults of sinks and observers. The executor calls f in its
// own goroutine, one fault at a time and in order. While f runs 8,192 faults wait; further ones are
// dropped, and f is told their number when it returns. Flush waits for f.
func WithErrorHandler(f func(*CallError)) Option {
	return func(e *Executor) { e.onError = f }
}

// WithClock sets the clock. The default is wrong when time is simulated.
func WithClock(c runtime.Clock) Option {
	return func(e *Executor) { e.sched.Use(c) }
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
	return func(e *Executor) { e.patience = d }
}

// Registry returns the tools of e.
func (e *Executor) Registry() *runtime.Registry {
	if e == nil {
		return nil
	}
	return e.reg
}
