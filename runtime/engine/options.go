package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// WithArtifacts sets the store for outputs that are longer than the artifact declaration of their
// tool allows. NewExecutor refuses tools that declare artifact when no store is set.
func WithArtifacts(s runtime.ArtifactStore) Option {
	return func(e *Executor) { e.artifacts = s }
}

// WithObserver adds a function that gets the outcome of every call, with the obligations that the
// policy attached, before Execute returns it. f acknowledges the obligations by returning. Execute
// waits for f only until the context of its caller ends; f then continues. The executor holds no
// lock while f runs, so f may call it. The executor reports to the error handler the obligations
// that no observer acknowledged, because there is none or none has returned. Observers never get a
// result that came too late.
func WithObserver(f func(runtime.CallInfo, runtime.Outcome)) Option {
	return func(e *Executor) { e.delivery.Observers = append(e.delivery.Observers, f) }
}

// WithSink adds a sink for events.
func WithSink(s runtime.Sink) Option {
	return func(e *Executor) { e.delivery.Sinks = append(e.delivery.Sinks, s) }
}

// WithErrorHandler sets a function for faults that a model must not see: panics with their stacks,
// raw errors of handlers and policies, faults of sinks and observers. The executor calls f in its
// own goroutine, one fault at a time and in order. While f runs 8,192 faults wait; further ones are
// dropped, and f is told their number when it returns. Flush waits for f.
func WithErrorHandler(f func(*action.CallError)) Option {
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

// A ProcessConfig is what tools that are commands get from the host.
type ProcessConfig struct {
	Runner    process.Runner
	Workspace string                           // an absolute folder that commands read; empty: none
	Protected []string                         // paths that no command may reach, such as the store
	Caches    string                           // the folder in which each tool has one for its caches; empty: none
	Spool     string                           // the folder for what processes write, until their end is recorded; empty: it is lost with the agent
	Variable  func(name string) (string, bool) // of the host, such as os.LookupEnv
	Processes int                              // how many run at once; 0: 5
}

// WithProcesses sets what runs the tools that are commands. NewExecutor refuses such tools without a
// runner, and when one lacks something on this host, such as its program. The default is wrong when a
// tool is a command.
func WithProcesses(c ProcessConfig) Option { return func(e *Executor) { e.config = c } }

// SetProcesses changes how many processes of commands run at once, to at least one.
func (e *Executor) SetProcesses(n int) { e.processes.SetLimit(n) }

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
	return func(e *Executor) { e.maxInFlight = n }
}

// WithApprover adds an approver that is notified of every request for consent.
func WithApprover(a consent.Approver) Option {
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

// WithJournal records everything in j, and restores from it what lasts: sessions and runs, their
// rule state, requests for consent and grants, and the outcomes of calls. Recover must be called
// before any other method. The default, no journal, is wrong for every tool that changes something.
func WithJournal(j journal.Journal) Option {
	return func(e *Executor) { e.journal = j }
}

// WithSegments sets what has the entries that were archived from the journal, for the outcomes of calls that are repeated. The
// default, none, is wrong when the segments are at hand: such a call is denied, and told where the outcome is (SEMANTICS 1.4).
func WithSegments(s journal.Segments) Option { return func(e *Executor) { e.segments = s } }

// WithOperators sets the policy that decides who may see, answer, undo, cancel, resolve, revoke and
// so on (SEMANTICS section 5.10). It is asked for every act, for at most the time of
// WithPolicyTimeout; an error, a panic and a late answer deny. The default, runtime.OperatorDefaults, is
// wrong when operators have different rights.
func WithOperators(p runtime.OperatorPolicy) Option {
	return func(e *Executor) { e.operators = p }
}

// DefaultUndoTTL is for how long a call can be undone when its tool does not declare a time.
const DefaultUndoTTL = ruleinput.DefaultUndoTTL

// WithReminders sets how often a model that stops is reminded of required tools before its run ends
// incomplete; negative: not at all. The default, two, is wrong when the model is slow to learn, or
// each reminder costs much.
func WithReminders(n int) Option {
	return func(e *Executor) {
		if e.reminders = n; n == 0 {
			e.reminders = -1
		}
	}
}

// WithCounter adds a counter of the transitions of calls, such as metrics.Metrics, to those there are.
func WithCounter(c runtime.Counter) Option {
	return func(e *Executor) { e.tally.Add(c) }
}

// WithTracer sets what makes a span of every call.
func WithTracer(t runtime.Tracer) Option {
	return func(e *Executor) { e.tally.Tracer = t }
}

// The defaults of a Retry whose fields are zero (SEMANTICS section 8).
const (
	DefaultRetryInitial = tools.DefaultRetryInitial
	DefaultRetryCap     = tools.DefaultRetryCap
)
