// Package runtime executes the calls that a model makes of declared tools: it
// looks the tool up, decodes and checks the input, asks a policy, admits the
// call, runs the handler under a deadline and a fence, checks the output, and
// says how it ended. Execute never panics and never returns an error: whatever
// happens is one of a closed set of outcomes.
//
//	reg, err := runtime.NewRegistry(filetools.Tools(handler)...)
//	exec, err := runtime.NewExecutor(reg, policy, runtime.WithSink(runtime.NewJSONSink(os.Stderr)))
//	run, err := exec.Session(runtime.SessionConfig{Principal: "alice"}).StartRun(ctx, runtime.RunConfig{})
//	turn := run.Turn(runtime.TurnConfig{Budget: time.Minute})
//	out := turn.Execute(ctx, runtime.Call{ID: "c1", Tool: "file_read", Input: []byte(`{"path":"a.md"}`)})
//	fmt.Println(out.Kind, out.Reason, out.Message, string(out.Output))
//	err = run.Close(ctx)
//	err = exec.Shutdown(ctx)
//
// The example of this package is that program in full.
//
// The standard library has a package of this name, too. This one exports no
// name that the other exports; a file that needs both calls the standard one
// goruntime.
//
// # Tools
//
// A [Tool] binds a [Spec], the declaration, to a handler. Generated code makes
// them: Tools(h) returns one per tool of a declaration file, carried out by the
// methods of h. [NewTool] is what generated code calls, and what a program calls
// that writes its types by hand; [NewDynamicTool] is for tools without types.
// A [Registry] holds the tools of an executor and reports every bad one.
//
// Not everything that can be declared is enforced yet. [Spec.Unenforced] lists
// what a tool declares and this version only carries: limits.memory. A program
// that promises it must say so.
//
// # Session, run, turn, call
//
// A [Session] is a principal's conversation, with its behaviour, its modes and
// its capabilities. A [Run] is one request of a user, handled to its end; what
// happened in it is what a policy sees as [Facts]. A [Turn] is one message of
// the model; its budget bounds all of its calls together, and a tool whose
// timeout is not retryable is blocked until it ends. A [Call] is one tool, one
// input, one id.
//
// The id of a call is its identity in the session. A call that comes again with
// the same id and equal arguments is not run again: it waits for the running
// one or gets the outcome of the ended one, and no event tells of it. With
// other arguments it is denied call_id_reused. A session therefore remembers
// the outcomes, outputs included, of all its calls: let go of it when the
// conversation is over.
//
// # Outcomes
//
// An [Outcome] has a kind out of eight, a [Reason] unless it completed, and a
// Message that is safe to show to the model: what is wrong with its arguments,
// what refuses its call, what it may do instead. Panic values, stacks, raw
// errors and paths of the host never reach an Outcome; they go to the error
// handler and the sinks. The text of a handler's error reaches the model when
// the tool declares safe_errors, or when [Public] marks the error; then
// Detail.Code holds its code.
//
//	completed   the handler ran and its output was accepted
//	failed      handler_error, panic, invalid_output, output_too_large, preview_failed, commit_failed, interrupted
//	denied      unknown_tool, invalid_input, call_id_reused, shutting_down, run_finished, deadline,
//	            blocked_after_timeout, operation_not_allowed, exiting, idempotency_conflict,
//	            start_constraint, prerequisite_missing, order_violation, exclusive_group, max_calls, cooldown,
//	            behavior_not_allowed, capability_missing, mode_off, policy_denied, policy_error,
//	            consent_denied, consent_expired, consent_unavailable, binding_mismatch, at_capacity,
//	            too_many_pending, journal_unavailable
//	duplicate   an equal call was made before; Of names it
//	pending     consent_required
//	timed_out   deadline
//	cancelled   cancelled, run_closed
//	unknown     interrupted, commit_failed, journal_unavailable: it may have taken effect
//
// Loop, Run and PendingExit tell the loop around the model what to do next, and
// Steps what would make the rules admit the same call.
//
// # What is checked, in order
//
// First the tool exists, then its input is valid: exact member names, no
// duplicates, nothing unknown, all violations in one answer. Then the executor
// and the run still take calls, the context is not done, the turn has at least
// the minimum budget left (five seconds, [WithMinimumBudget]), the tool is not
// blocked. The first of these that fails is the only answer, but a call of a
// blocked tool that repeats an earlier one, or could not be made in any turn, is
// told that instead.
//
// Then the [Policy] is asked, about the decoded arguments, which are the very
// value that the handler gets. It may deny, ask, allow, rewrite arguments and
// attach obligations. What nothing allows is denied. Rewrites are applied to the
// encoded arguments, decoded as strictly as any input, and judged once more; a
// policy that then still wants something else has made an error, as has one
// whose rewrites contradict each other.
//
// At most GOMAXPROCS evaluations run at once. Each has one second of time in which
// the process ran ([WithPolicyTimeout]), and waiting for a place is no part of it.
// One that takes longer is abandoned and denies its call. While two evaluations
// about a tool are abandoned and have not ended, its calls are denied without
// asking (breaker_open); while that is so of four tools, all calls are.
//
// Then the rules judge the call (package runtime/rules). What refuses it is told
// in one answer: rules first, then the policy. A call that nothing refuses is
// admitted: from then on it holds its slot, its groups and its place among equal
// calls, which it gives back if its handler is never started. If what the policy
// saw has changed meanwhile the call is judged again, the third time while nobody
// else of the session is admitted. So a policy that allows three calls allows
// three, however many come at once.
//
// [Turn.WhatIf] goes the same way to this point, changes nothing, and tells what
// would happen and why.
//
// [WithShadow] lets a second policy judge the same calls afterwards, which decides
// nothing, and tells where it would decide otherwise.
//
// # Capacity
//
// An executor works on 1,024 calls at once ([WithMaxInFlight]). Of a tool that
// declares limits.concurrency so many handlers run at once, and limits.queue more
// calls, four times as many by default, may be judged or wait. One more call is
// denied at_capacity at once, before the policy and the journal: Detail.RetryAfter
// says when to make it again, under the same id if you like, [Stats] counts it and
// observers are told. No event and no entry of the journal tells of it.
//
// # Consent
//
// A call that the policy or its declaration asks about is pending: it holds what
// it reserved, and nobody works on it. The request is recorded, then every
// [Approver] is notified; with [WithPendingRequests] somebody looks at
// [Executor.Requests] instead. With neither the call is denied
// consent_unavailable. Every answer enters by [Executor.Decide]. Execute waits
// for it as long as TurnConfig.ConsentWait; the call is resolved all the same when
// that is over, and [Session.Await] tells how.
//
// An approved call is judged once more, by policy and rules, its own reservation
// left out, and compared with what was approved immediately before its handler
// starts. Package runtime/consent is the manual of requests and grants.
//
// # Artifacts
//
// The output of a tool that declares artifact is stored aside when it is longer
// than that allows (12,000 characters of JSON, unless the tool says otherwise):
// the outcome has no Output then, but an [Outcome.Artifact], its SHA-256, type,
// size and a preview for the model. [Session.Artifact] reads it, also after a
// restart. The store is given with [WithArtifacts]; without one such tools are
// refused by NewExecutor. An output that cannot be stored is a failed call,
// commit_failed.
//
// # Batches, sub-agents, the loop
//
// [Turn.ExecuteBatch] makes the calls of one message: all are admitted in order,
// then they run together. [Run.WithPrincipal] and [Run.Child] are views of a run for another
// principal and for a sub-agent. [Run.ModelStopped] says that the model answered
// without a call, [Turn.ExecuteRequired] makes the calls whose arguments the
// declaration holds, [Run.Periodic] those of periodic tools, and [Session.Undo]
// takes calls back.
//
// # The handler
//
// A handler runs in a goroutine of its own, with the tool's deadline, the cap
// of its turn or what is left of the turn's budget, whichever is least: each attempt
// anew. limits.concurrency bounds how
// many run at once; others wait in the order in which they came, inside the
// turn's budget, and are at_capacity when it is over. A handler that was given
// up keeps its place until it returns.
//
// [FromContext] tells a handler who calls and how much time remains. At the
// deadline its context ends, and so does the call: timed_out, exactly then,
// whether the handler listens or not. What it returns later is an event,
// tool.late_result, and never an outcome.
//
// Go cannot stop a goroutine. What a handler that was given up can still do to
// the world is up to the handler: whatever it does inside [Commit] cannot
// happen after the outcome. The fence is held over the effect, not looked at
// before it; the outcome waits for an effect that has begun, for five seconds
// at most. Put the write, the rename, the request that matters into Commit,
// and prepare it outside:
//
//	content, err := render(ctx, in)
//	...
//	err = runtime.Commit(ctx, func() error { return os.Rename(tmp, path) })
//
// What must be taken back when a call does not complete is done through a
// [Participant], by [PartOf]: it is committed once the output was accepted, and
// rolled back on every other way; Outcome.RolledBack says that everything is as
// it was. An idempotent tool that declares retry is run again, after what it did
// was taken back, when its error is one of a resource ([Transient]) or when it
// has returned within five seconds after its deadline. All attempts are one call.
//
// A panic of a handler, and runtime.Goexit, is a failed call. A panic in a
// goroutine that a handler started, os.Exit and a fatal error of the Go runtime
// end the process: no library can help there.
//
// # Events
//
// Every change of a call's state is one [Event], emitted by one function, and
// which event may follow which is data ([EventKind.Legal]). A [Sink] gets them
// one at a time in order: [JSONSink] and [LogSink] are here, and an application
// can add its metrics. Each sink has a goroutine and a queue of 8,192 events, so
// that one that blocks holds up no call: what overflows is counted ([Stats]),
// reported, and told to the sink as sink.dropped. A [MemorySink] is filled at once.
// Events carry sizes and no arguments or outputs, and texts of errors in them are
// scrubbed of the values of members marked x-sensitive.
//
// Raw faults go to [WithErrorHandler], from a queue of their own, and outcomes with
// their obligations to [WithObserver] before Execute returns. [Executor.Flush] and
// [Executor.Shutdown] wait for all of them: a program that ends without either may
// not have told everything.
//
// # The journal
//
// With [WithJournal] every change is appended to one list, which is the audit
// trail and what [Executor.Recover] reads at the next start. A handler starts when
// it is durable that it is about to, approvers are told when the request is, and
// a caller is answered when the outcome is: of what was answered nothing is lost.
// What a call may need to be undone ([WithUndo]) is in the journal before its
// handler starts, and is prepared once, however often the handler runs.
// An undo handler runs as a handler does: [FromContext], [Commit] and [PartOf] work
// in it, and what it does through participants is one transaction.
// [Session.Undo] of a call of an earlier process is what it would have been in
// that process. When the arguments or the state were erased, or do not fit the
// declaration any more, it is refused, not_undoable, and the error handler is told why.
//
// When the journal cannot be written calls are denied journal_unavailable. A call
// whose handler was running when the process died is done again if its tool may
// be, taken back if participants have all that it did, and otherwise unknown. It
// leaves that state by the tool's reconcile handler ([WithReconcile]), which
// [Executor.Recover] asks at every start, by a person ([Session.Resolve]), or by an
// undo. [CallInfo.Key] is the same in every attempt and in the reconcile handler.
//
// A journal that only one process at a time may write is a [journal.Owner]: the
// executor renews its ownership every ten seconds. When it has lost it, or could
// not renew it for a minute, nothing more is admitted or recorded, handlers are
// cancelled (lease_lost), and what is pending is left to the next owner.
// CallInfo.Fence grows with every owner, for systems that can refuse an older one.
//
// Other processes, which must not write the journal, want things done by a
// [Command]: [Executor.Import] carries each out once. Package runtime/inbox brings
// them, and the command line of ambit gives them.
//
// # Ending
//
// [Run.Close] cancels what still runs or waits (run_closed) and waits for the
// handlers. [Session.Cancel] ends one call, wherever it stands, and
// [Turn.StartCall] begins one that nobody waits for.
//
// [Executor.Shutdown] stops admitting, lets what runs come to its end in the time
// that it is given, tells the rest to stop, and records no outcome that it does
// not know; requests for consent can be answered after a restart. [ShutdownOn]
// does so when a signal comes. Nothing else needs to be closed: an executor holds
// no goroutine while no call is being made. One that renews the ownership of a
// journal does so until Shutdown.
package runtime
