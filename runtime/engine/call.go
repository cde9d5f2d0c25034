package engine

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A call is one execution. Two goroutines share it: the caller's, which waits for the outcome, and
// the worker's. Timers and other goroutines may end it. Its fields are grouped by their owner.
type call struct {
	work // of the goroutine that executes the call

	progress     callState         // its lock guards all that follows
	prepared     wire.Value        // what the journal holds for the undo; prepared once for all attempts
	isPrepared   bool              // prepared was computed, and may be nil
	consent      *approvals.Needed // the consent that it needs; nil: none yet
	position     int               // in the list of active calls, from 1; guarded by the session
	trail        commitlog.Trail   // its entries in the journal
	unrecorded   bool              // the journal has no entry of it: the commit log was stalled when it was made
	entered      bool              // finish leaves the session
	idReused     bool              // refused because its id is that of another call
	interruption *result           // while it is evaluated again after a restart: its result unless it runs again
	dryVerdict   *Verdict          // dry: the verdict, when the worker ended the call
	repeats      string            // the equal call that it waits for

	// For equal calls, guarded by the session.
	settled   *sched.Event // fires when the call is settled; nil: none waits for that
	isSettled bool         // it has begun or ended: it cannot be refused any more
	begun     bool         // what it does has begun; only of a tool that remembers equal calls
}

// An ident is the identity of a call. It does not change once a second goroutine has the call.
type ident struct {
	exec     *Executor
	run      *Run
	turn     *Turn
	ctx      context.Context // of the caller: it lives as long as the call
	record   *callRecord
	id       string
	began    time.Time
	batch    *batch      // nil: it is not in a batch
	tool     *tools.Tool // nil: there is none of that name
	size     int         // of the input, in bytes
	metadata map[string]string
	notes    []string    // of the outcome
	span     *tally.Span // nil: there is no tracer
	epoch    uint64      // of the earlier owner of the journal that started its handler
	dry      bool        // only evaluated: no events, no reservations, no handler
	undoing  bool        // it is the undo of another call and shares the record of that call
}

// A work is the state of a call that its worker owns: values of the steps, and resources that the
// call holds.
type work struct {
	ident
	worker             *worker
	workCtx            context.Context  // of policy and handler
	policyCtx          deadline.Context // of the first evaluation
	now                time.Time        // of the present step
	equalUntil         time.Time        // until when it waits for equal calls; zero: it has not waited yet
	values             tools.Values
	heartbeat          bool // the model asked to be continued
	obligations        []runtime.Obligation
	place              capacity.Place // what it holds of the capacity of the executor
	needsReadmission   bool           // after a restart: it is evaluated again, and still holds its reservation
	declarationChanged bool           // it waits for consent that was requested under another declaration of its tool
	workReturned       bool           // the work returned without a panic and without Goexit
}

// An evaluation is the result of the policy about a call. The rules are checked separately.
type evaluation struct {
	decision.Result
	fault *action.CallError
}

// A result is the end of a call: its outcome, its last event and state, and the cause.
type result struct {
	stalled   bool             // the commit waited for a journal that could not be written
	cause     lifecycle.Cause  // of the end; NotEnded: ByWorker
	moment    lifecycle.Moment // that the cause saw
	by        string           // the approver or operator that ended the call
	evaluated *evaluation      // of the policy, to which the rules are added
	event     runtime.EventKind
	to        runtime.State
	outcome   runtime.Outcome
	output    int // bytes, before redaction
	fault     *action.CallError
	text      string // for operators; setText sets it
	textSet   bool   // text is set
	reported  bool   // fault was
	verdict   *Verdict
}

// workerDone is the result of a step after which the worker has nothing more to do with the call:
// the call has its outcome, or it waits for consent without a worker.
var workerDone = new(result)

// denied returns the result of a call that is denied with out.
func denied(out runtime.Outcome) *result {
	return &result{event: runtime.EventDenied, to: runtime.StateDenied, outcome: out}
}

// aborted returns the result of a call that ends with out before its handler does.
func aborted(out runtime.Outcome) *result {
	return &result{event: runtime.EventAborted, to: runtime.StateAborted, outcome: out}
}

// clock returns the time, measured by the monotonic clock from the start of the call. That is
// cheaper than time.Now, and a change of the wall clock does not change how long the call may take.
func (c *ident) clock() time.Time { return c.exec.sched.Since(c.began) }

// done returns the event that fires when c has its outcome.
func (c *ident) done() *sched.Event { return c.record.Done() }

// key returns the key of the call's transaction.
func (c *ident) key() runtime.CallKey { return runtime.CallKey{Session: c.run.session.id, Call: c.id} }

// approved reports whether the call has been approved.
func (c *call) approved() bool { return c.consent.Requested() }

// deadline returns how long one attempt of c may take, without the budget of its turn: what its
// tool declares, or less if the turn caps it.
func (c *ident) deadline() time.Duration {
	d := c.tool.Deadline()
	if most := c.turn.limit; most > 0 && most < d {
		return most
	}
	return d
}

// releaseResources releases what the call holds beyond its outcome.
func (c *work) releaseResources() { c.place.Release(c.clock, c.now) }

// Info describes the call to code of its tool, with the consent that it has. The lock of the call is held.
func (c *call) Info() callctx.Info {
	info := c.ident.Info()
	c.consent.Describe(&info)
	return info
}

// Info describes the call to code of its tool.
func (c *ident) Info() callctx.Info {
	cfg := c.run.session.cfg.Load()
	info := callctx.Info{
		ID: c.id, Tool: c.record.Tool, Session: cfg.ID, Run: c.run.id, Agent: c.run.by.Agent,
		Principal: c.run.by.Principal, Behavior: cfg.Behavior, Undo: c.undoing, Metadata: c.metadata, Turn: c.turn.number, ClientRequest: clientRequest(c.metadata),
	}
	if c.tool != nil {
		info.Capabilities = c.tool.Spec.Capabilities
	}
	return info
}

// Declaration returns the spec of the tool.
func (c *ident) Declaration() *runtime.Spec { return c.tool.Spec }

// PartFault reports a fault of a participant.
func (c *ident) PartFault(err error) { c.exec.report(c.newFault(runtime.ReasonCommitFailed, err)) }
