package runtime

import (
	"time"
)

// A Counter counts what an executor does (engine.WithCounter). The executor calls Count in every
// transition of a call, while it holds locks of the call: Count must not wait for anything, must not
// call the executor and should not allocate. Several calls of Count run at the same time. A panic of
// Count is reported to the error handler, once; nothing is counted after it.
//
// A Sink has a queue and may miss events. A Counter misses none.
type Counter interface{ Count(Transition) }

// A Transition is an Event as a Counter gets it: without texts and ids.
type Transition struct {
	Kind     EventKind
	Tool     int         // its position in the registry; -1: of an unknown tool, or of no call
	Ended    bool        // the call has its outcome now; once for every call
	Outcome  OutcomeKind // with Ended, and of tool.reconciled, as is the Reason
	Reason   Reason
	Duration time.Duration // with Ended, and of an undo
	Times    Times         // with Ended; of an undo Handler
	Attempts int           // with Ended: how often the handler was started
	Input    int           // bytes, of tool.invoked
	Output   int           // bytes, with Ended; of tool.output the texts told since the tool.output before
	Dropped  int           // bytes of tool.output, since the tool.output before
	Artifact int64         // bytes, with Ended: the output was stored aside

	Resolution Resolution // of approval.decided
	Approved   bool       // of approval.decided: the answer approves
}

// Stats holds figures of an executor at one moment (engine.Executor.Stats).
type Stats struct {
	InFlight  int // calls that it works on, without those that wait for consent
	Running   int // handlers that run, also those of Lingering
	Queued    int // calls of InFlight that wait for a slot of their tool
	Waiting   int // calls that wait for consent
	Lingering int // handlers that still run although their call has ended
	Abandoned int // evaluations of the policy that still run although their time was over
	Broken    int // tools about which the policy is not asked any more until one of these ends

	Processes []RunningProcess        // of commands, those that were started first in front
	Usage     map[string]ProcessUsage // what processes have used so far, by tool; of memory and processes, what those that run use now

	Queues      map[string]int // calls of Queued, by tool; tools without one are left out
	BrokenTools []string       // names of the tools of Broken, in the order of the registry
	Halted      bool           // so many tools are Broken that the policy is asked about none

	Renewed time.Time // when the ownership of the journal was renewed last; zero: the journal has no owners
	Until   time.Time // when it ends unless it is renewed again; zero: it has ended, or the journal has no owners

	LateResults uint64 // results that came after their call had ended, so far
	AtCapacity  uint64 // calls denied at_capacity without an event, so far
	Dropped     uint64 // events and faults that sinks and the error handler did not take in time, so far

	Journal error // why the journal takes no entries: none now (journal.ErrUnavailable), or none any more; nil: it does
}
