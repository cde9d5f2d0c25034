// Package tap connects an executor to a package above it that follows the decisions of the policy.
package tap

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Tap follows the decisions of executors.
type Tap interface {
	// Open is called while the executor is made. A nil Follower follows nothing.
	Open(Host) Follower
}

// A Follower follows the decisions of one executor. Its methods are safe for concurrent use.
type Follower interface {
	// Decided gets a decision of the policy, after the rules and the consent that the policy asked for
	// were checked too. The goroutine of the call calls it, so it must not block. It copies what it
	// keeps: the executor uses d again.
	Decided(d *Decision)

	// Close is called once no call runs any more, before the journal is closed. Decisions after it
	// are those of calls that have outlasted a shutdown.
	Close()
}

// A Host is what an executor offers to a Follower.
type Host struct {
	Sched *sched.Scheduler

	// An evaluation of a policy may take Ticks of length Tick, which are counted while the process
	// runs.
	Tick  time.Duration
	Ticks int

	// Record writes a record to the journal, if there is one, and sets its time.
	Record func(*journal.Record)

	// Report tells the error handler of a fault about a call.
	Report func(about *runtime.PolicyInput, err error)
}

// A Decision is what the policy was asked about a call and what it has answered.
type Decision struct {
	// Input is the input of the policy. Its facts are a snapshot that the policy may have memoized
	// in. It has no arguments: other goroutines may change those of the call. Tool decodes them again.
	Input runtime.PolicyInput
	Text  []byte // of the arguments; never changed
	Tool  Decoder
	Agent string // the sub-agent; empty: none

	Decision runtime.Decision
	Failed   string // why there is no decision: error, timeout, panic, ...; empty: there is one
}

// A Decoder decodes the arguments of a tool.
type Decoder interface {
	Decode(input []byte) (wire.Value, []wire.Violation)
}
