package engine

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/acts"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/commands"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/evaluations"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/snapshots"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// An Executor executes calls of the tools in a registry under a policy. It is safe for
// concurrent use. The zero value refuses to start runs.
type Executor struct {
	reg          *runtime.Registry
	tools        []tools.Tool // of reg, in its order
	policy       runtime.Policy
	operators    runtime.OperatorPolicy
	judge        acts.Judge // asks operators
	delivery     outbox.Delivery
	sched        sched.Scheduler
	approvers    []consent.Approver
	participants transaction.Participants
	places       map[string]string // of the participants, for entries
	attempts     attemptEnv
	config       ProcessConfig      // of commands
	processes    *processes.Set     // of the tools that are commands
	live         func(journal.Live) // gets what handlers report; nil: none is set
	polled       bool               // the application polls Requests

	maxInFlight     int                  // calls that it works on at once
	maxOpenRequests int                  // of a session
	onConsentEvent  func(*consent.Event) // gets every change of requests and grants; nil: none is set

	reminders   int
	artifacts   runtime.ArtifactStore                // nil: no tool declares artifact
	onRuleEvent func(session string, ev rules.Event) // gets every change of a rule state; nil: none is set

	engine        *rules.Engine
	wants         []rules.Wants   // by position in the registry
	elsewhere     []atomic.Bool   // by position in the registry: it was reported that the tool touches no participant
	requires      bool            // some tool is required before the end of a run
	instantZero   time.Time       // the instant 0
	journal       journal.Journal // nil: nothing is recorded
	segments      journal.Segments
	inputs        ruleinput.Key
	log           *commitlog.Writer // nil: there is no journal
	snapshots     *snapshots.Writer
	lease         *lease.Lease // nil: there is no journal
	sessions      sessionCache
	holdings      *holdings.Ledger
	seen          commands.Once
	approvals     approvals.Approvals[*call]
	undos         undoHandlers
	minimum       time.Duration
	hooks         *simhooks.Hooks // of a simulation; nil: this is not one
	policyTimeout time.Duration   // how long an evaluation of the policy may take

	evaluations evaluations.Evaluations
	lingering   atomic.Int64 // handlers that still run although their call has ended
	givenUp     sched.Event  // fires when a shutdown has given up the handlers that do not return
	gone        sched.Event  // fires when the journal is no longer that of this executor
	capacity    capacity.Capacity
	tally       tally.Tally
	workers     workers
}

// An Option changes an Executor while NewExecutor makes it.
type Option func(*Executor)

// DefaultMinimumBudget is how much of a turn's budget must be left for a call to be considered.
const DefaultMinimumBudget = 5 * time.Second

const grace = lifecycle.GracePeriod // for which an outcome waits for effects under the fence that had begun before the call ended

// DefaultMaxInFlight is how many calls an executor works on at once.
const DefaultMaxInFlight = 1024

// Registry returns the tools of e.
func (e *Executor) Registry() *runtime.Registry {
	if e == nil {
		return nil
	}
	return e.reg
}

// Snapshots returns what writes snapshots of sessions for an archive; nil without a journal. It is for package host.
func (e *Executor) Snapshots() *snapshots.Writer { return e.snapshots }

// lookup returns the tool with that name, nil when there is none.
func (e *Executor) lookup(name string) *tools.Tool {
	if _, i, ok := e.reg.Lookup(name); ok {
		return &e.tools[i]
	}
	return nil
}

// instant returns a time as the rules count it: a change of the system's clock makes no period longer or shorter.
func (e *Executor) instant(t time.Time) rules.Instant {
	return rules.Instant(t.Sub(e.instantZero))
}

// report passes a fault to the error handler. It does not wait for the error handler.
func (e *Executor) report(f *action.CallError) { e.delivery.Report(f) }
