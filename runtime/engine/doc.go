// Package engine executes the tool calls of a model. For each call the executor looks up the tool,
// decodes and checks the input, asks a policy, checks the rules that the tools declare, runs the
// handler with a deadline and behind a fence, checks the output and returns an [runtime.Outcome].
//
// [Turn.Execute] never panics and returns no error. Every call ends in one of a closed set of
// outcomes, including a call that is refused and one whose handler panics.
//
//	reg, err := runtime.NewRegistry(filetools.Tools(handler)...)
//	exec, err := engine.NewExecutor(reg, policy, engine.WithSink(runtime.NewJSONSink(os.Stderr)))
//	run, err := exec.Session(engine.SessionConfig{Principal: "alice"}).StartRun(ctx, engine.RunConfig{})
//	turn := run.Turn(engine.TurnConfig{Budget: time.Minute})
//	out := turn.Execute(ctx, runtime.Call{ID: "c1", Tool: "file_read", Input: []byte(`{"path":"a.md"}`)})
//	fmt.Println(out.Kind, out.Reason, out.Message, string(out.Output))
//	err = run.Close(ctx)
//	err = exec.Shutdown(ctx)
//
// The example of this package is the complete program. Package runtime is the vocabulary of tools,
// policies and outcomes; package runtime/host opens an executor with a store, an audit log, recovery
// and an inbox in one call.
//
// # Session, run, turn, call
//
// A [Session] is the conversation of one principal. It holds the behavior, the modes and the
// capabilities. A [Run] is one request of a user; a policy sees its history as [runtime.Facts]. A [Turn]
// is one message of the model. The budget of a turn bounds all of its calls together, and a tool
// that timed out and is not retryable is blocked until the turn ends. A [runtime.Call] is one tool, one
// input and one id.
//
// The id identifies a call within its session. The executor does not run a call again that has
// the id and the arguments of an earlier one: the caller waits for the running call, or gets the
// outcome of the call that has ended, and no event is emitted. A call with the id of an earlier
// call and other arguments is denied call_id_reused.
//
// A session therefore keeps the outcome of each of its calls. With a journal a session that is idle leaves
// memory, and is loaded again when it is used; without one, drop the references to it when the conversation is over.
//
// # Order of the checks
//
// The outcome of a refused call lists everything that refuses it: all violations of the input, or what
// the rules (package runtime/rules) and then the [runtime.Policy] say. A call that nothing refuses is
// admitted. It holds its slot and its groups from then on, unless its handler never starts: a policy that
// allows three calls allows exactly three, however many are made concurrently. docs/semantics.md, sections 2 to 4, has the checks in their
// order, and what happens when a policy is slow, fails or rewrites arguments.
//
// [Turn.WhatIf] makes the same checks up to this point. It changes nothing and returns what would
// happen, and why. [WithDecisionTap] follows the decisions.
//
// # Capacity
//
// An executor works on at most 1,024 calls at once ([WithMaxInFlight]), and on those of a tool as its
// limits say. The executor denies a call beyond either limit with at_capacity, before it asks the
// policy and before it writes to the journal. Detail.RetryAfter says when to make the call again; the
// caller may use the same id. The same holds for a call that is denied later, because it got no slot or because the
// executor shuts down.
//
// # Consent
//
// A call is pending when the policy asks for consent, or when its declaration does. It keeps its
// reservations and occupies no worker. The executor records the request and then notifies every
// [consent.Approver]. With [WithPendingRequests] the application polls [Executor.Requests] instead.
// Without either the call is denied consent_unavailable.
//
// All answers arrive through [Executor.Decide]. Execute waits for an answer as long as
// TurnConfig.ConsentWait allows. The request stays open after that, and [Session.Await] returns
// the final outcome.
//
// After an approval the policy and the rules evaluate the call once more, and it must still be what was
// approved. Package runtime/consent documents requests and grants.
//
// # Artifacts
//
// A tool that declares artifact needs the store that [WithArtifacts] sets. When its output is longer than
// the declaration says, the Outcome has an [runtime.Outcome.Artifact] and no Output. [Session.Artifact]
// reads the stored output. docs/artifacts.md has the limits, and what fails when the store does.
//
// # Batches, sub-agents, the agent loop
//
// [Turn.ExecuteBatch] makes the calls of one message: the executor admits them in order and then
// runs them concurrently. [Run.WithPrincipal] returns a view of a run for another principal, and
// [Run.Child] one for a sub-agent.
//
// [Run.ModelStopped] says that the model answered without a call. [Turn.ExecuteRequired] makes
// the calls whose arguments the declaration holds, and [Run.Periodic] those of periodic tools.
// [Session.Undo] undoes calls, also those of an earlier process when there is a journal.
//
// # Sinks, observers and faults
//
// The function of [WithErrorHandler] receives raw faults, from a queue of its own. The function
// of [WithObserver] receives each outcome with its obligations before Execute returns.
// [Executor.Flush] and [Executor.Shutdown] wait for sinks, observers and the error handler. A
// program that exits without calling either may lose events.
//
// # The journal
//
// [WithJournal] sets an append-only list to which the executor writes every change. The journal
// is the audit trail, and [Executor.Recover] reads it at the next start. The executor starts a
// handler once the intent to start it is durable, notifies approvers once the request is durable,
// and returns once the outcome is durable. A crash loses no outcome that a caller was given.
//
// While the journal cannot be written, calls are denied journal_unavailable.
//
// A process can die while a handler runs. What recovery cannot run again or roll back is unknown, until
// the reconcile handler of its tool ([runtime.WithReconcile]), a person ([Session.Resolve]) or an undo
// says what became of it. [runtime.CallInfo.Key] is the same in every attempt and in that handler.
//
// A journal that one process at a time may write is a [journal.Owner]. An executor that loses the
// ownership stops. docs/owners.md says how, and docs/durability.md what survives what.
//
// Other processes must not write the journal. They send commands, each of which
// [Executor.ExecuteOnce] executes once. Package runtime/host/inbox says what a command is and delivers
// it, and the ambit command creates commands.
//
// # Closing and shutdown
//
// [Session.End] ends a session for good. [Run.Close] cancels the calls of the run that still run or wait (run_closed) and waits for
// their handlers. [Session.Cancel] ends one call in any state. [Turn.StartCall] starts a call
// without waiting for its outcome.
//
// [Executor.Shutdown] stops admission, lets running calls finish until its context ends, and then
// cancels the rest. Package ossignals calls it when the process receives a signal.
//
// Nothing else needs to be closed. An executor has no goroutine while no call is being made,
// except that one which owns a journal renews its ownership until Shutdown.
package engine
