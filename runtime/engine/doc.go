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
// A session therefore keeps the outcome of each of its calls in memory, the output included. Drop
// the references to a Session when the conversation is over.
//
// # Order of the checks
//
// The executor checks the tool and the input first. The input must have the declared member names
// exactly, none of them twice and no other. The outcome lists all violations.
//
// It then checks that the executor and the run still take calls, that the turn has time left
// ([WithMinimumBudget]), and that the tool is not blocked. It asks the [runtime.Policy] about the decoded
// arguments, the same value that the handler gets, and then the rules (package runtime/rules). One
// answer lists everything that refuses the call, rules first and the policy second.
//
// A call that nothing refuses is admitted. From then on it holds its slot, its groups and its place
// among equal calls, and releases them if its handler never starts. A policy that allows three calls
// allows exactly three, however many calls are made concurrently. docs/semantics.md, sections 2 to 4,
// has each check in its order, and what happens when a policy is slow, fails or rewrites arguments.
//
// [Turn.WhatIf] makes the same checks up to this point. It changes nothing and returns what would
// happen, and why. [WithDecisionTap] follows the decisions.
//
// # Capacity
//
// An executor works on at most 1,024 calls at once ([WithMaxInFlight]), and on those of a tool as its
// limits say. The executor denies a call beyond either limit with at_capacity, before it asks the
// policy and before it writes to the journal. Detail.RetryAfter says when to make the call again; the
// caller may use the same id.
//
// # Consent
//
// A call is pending when the policy asks for consent, or when its declaration does. It keeps its
// reservations and occupies no worker. The executor records the request and then notifies every
// [runtime.Approver]. With [WithPendingRequests] the application polls [Executor.Requests] instead.
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
// A tool that declares artifact has a limit for its output, 12,000 characters of JSON unless the
// tool declares another. The executor stores a longer output in the store that [WithArtifacts]
// sets. The Outcome then has no Output but an [runtime.Outcome.Artifact], which holds the SHA-256, the
// type, the size and a preview for the model. [Session.Artifact] reads the stored output, also
// after a restart. NewExecutor refuses a tool that declares artifact when there is no store. A
// call whose output cannot be stored fails with commit_failed.
//
// # Batches, sub-agents, the agent loop
//
// [Turn.ExecuteBatch] makes the calls of one message: the executor admits them in order and then
// runs them concurrently. [Run.WithPrincipal] returns a view of a run for another principal, and
// [Run.Child] one for a sub-agent.
//
// [Run.ModelStopped] says that the model answered without a call. [Turn.ExecuteRequired] makes
// the calls whose arguments the declaration holds, and [Run.Periodic] those of periodic tools.
// [Session.Undo] undoes calls.
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
// What a call needs to be undone ([runtime.WithUndo]) is in the journal before its handler starts.
// [Session.Undo] also undoes a call of an earlier process, with the same result.
//
// While the journal cannot be written, calls are denied journal_unavailable.
//
// A process can die while a handler runs. Recovery then runs the call again if its tool permits
// that, or rolls it back if participants hold everything that it did. Any other such call is
// unknown. It leaves that state in one of three ways: by the reconcile handler of its tool
// ([runtime.WithReconcile]), which Recover calls at every start, by the decision of a person
// ([Session.Resolve]), or by an undo. [runtime.CallInfo.Key] is the same in every attempt and in the
// reconcile handler.
//
// A journal that one process at a time may write is a [journal.Owner]. An executor that has lost the
// ownership, or could not renew it for a minute, admits and records nothing more. It cancels its handlers
// (lease_lost) and leaves pending calls to the next owner. docs/durability.md has what survives what.
//
// Other processes must not write the journal. They send commands, each of which
// [Executor.ExecuteOnce] executes once. Package runtime/inbox says what a command is and delivers
// it, and the ambit command creates commands.
//
// # Closing and shutdown
//
// [Run.Close] cancels the calls of the run that still run or wait (run_closed) and waits for
// their handlers. [Session.Cancel] ends one call in any state. [Turn.StartCall] starts a call
// without waiting for its outcome.
//
// [Executor.Shutdown] stops admission, lets running calls finish until its context ends, and then
// cancels the rest. It records no outcome that it does not know. Requests for consent stay open and
// can be answered after a restart. Package ossignals calls Shutdown when the process receives a signal.
//
// Nothing else needs to be closed. An executor has no goroutine while no call is being made,
// except that one which owns a journal renews its ownership until Shutdown.
package engine
