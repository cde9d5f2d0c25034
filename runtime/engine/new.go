package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/acts"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/snapshots"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// NewExecutor returns an executor of the tools in reg, under policy.
func NewExecutor(reg *runtime.Registry, policy runtime.Policy, opts ...Option) (*Executor, error) {
	if reg.Len() == 0 {
		return nil, errors.New("the registry is empty: an executor needs at least one tool")
	}
	if policy == nil {
		return nil, errors.New("the policy is nil: an executor without a policy would deny every call")
	}
	e := &Executor{reg: reg, tools: tools.Of(reg), policy: policy, operators: runtime.OperatorDefaults{}, minimum: DefaultMinimumBudget, policyTimeout: runtime.DefaultPolicyTimeout}
	e.maxInFlight, e.maxOpenRequests = DefaultMaxInFlight, DefaultMaxOpenRequests
	for _, opt := range opts {
		opt(e)
	}
	if e.operators == nil {
		return nil, errors.New("the operator policy is nil: leave WithOperators out for that of runtime.OperatorDefaults")
	}
	limits := capacity.Limits{Budget: e.minimum, Policy: e.policyTimeout, InFlight: e.maxInFlight, Requests: e.maxOpenRequests}
	if err := limits.Check(); err != nil {
		return nil, err
	}
	if slices.Contains(e.delivery.Sinks, nil) {
		return nil, errors.New("a sink is nil: leave WithSink out")
	}
	e.delivery.Open(&e.sched)
	if err := tools.CheckStore(e.tools, e.artifacts); err != nil {
		return nil, err
	}
	var err error
	if e.processes, err = processes.Open(e.tools, &e.sched, processes.Config(e.config)); err != nil {
		return nil, err
	}
	compiled, err := ruleinput.Compile(tools.Specs(e.tools), e.reminders)
	if err != nil {
		return nil, err
	}
	e.engine, e.wants, e.requires = compiled.Engine, compiled.Wants, compiled.Requires
	now := e.sched.Now()
	e.instantZero = now.Add(-time.Duration(now.UnixNano())) // 1970 by the monotonic clock
	e.openLog()
	e.seen.Open(&e.sched, e.log)
	e.places = e.participants.Places()
	e.attempts = attemptEnv{Sched: &e.sched, Lease: e.lease, Participants: e.participants, Grace: grace}
	e.openApprovals()
	e.workers.Open(&e.sched, e.instantZero, (*call).execute, (*call).expire)
	e.evaluations.Open(&e.sched, reg.Len(), e.policyTimeout)
	e.elsewhere = make([]atomic.Bool, reg.Len())
	e.capacity.Open(&e.sched, e.maxInFlight, e.tools, &e.tally.Queued, e.processes.Slots)
	e.tally.Report = func(err error) { e.report(&action.CallError{Err: err}) }
	e.judge = acts.Judge{Sched: &e.sched, Policy: e.operators, Timeout: e.policyTimeout, Record: e.recordAct, Report: e.report}
	return e, nil
}

// openApprovals prepares the requests and grants of e.
func (e *Executor) openApprovals() {
	e.approvals.Open(approvals.Config[*call]{
		Sched: &e.sched, MaxOpen: e.maxOpenRequests, Due: handleDue,
		Changed: func(session string, ev *consent.Event) {
			if e.onConsentEvent != nil {
				e.onConsentEvent(ev)
			}
			e.log.ConsentChanged(session, ev)
		},
		Report: func(call string, err error) { e.report(&action.CallError{CallID: call, Err: err}) },
	})
}

// openLog prepares lease and commit log, which write nothing before recovery has read the journal.
func (e *Executor) openLog() {
	e.openSessions()
	if e.journal == nil {
		return
	}
	e.lease = lease.New(lease.Config{
		Sched: &e.sched, Heartbeat: DefaultHeartbeat, Stale: DefaultStale, Guard: usercode.Call, OnLost: e.leaseLost,
		Report: func(err error) { e.report(&action.CallError{Err: err}) },
	})
	e.holdings = holdings.New()
	e.log = commitlog.New(commitlog.Config{Sched: &e.sched, Append: e.append, Written: e.lease.Wrote})
	e.snapshots = snapshots.New(snapshots.Config{Sched: &e.sched, Journal: e.journal, Engine: e.engine, Log: e.log, Key: e.approvals.Key, Holdings: e.holdings})
}

// append appends entries to the journal, whose code may panic.
func (e *Executor) append(entries []journal.Entry) error {
	err := usercode.Call(func() error { return e.journal.Append(context.Background(), entries) })
	if err == nil {
		err = e.holdings.Add(entries)
	}
	return err
}
