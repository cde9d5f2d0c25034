// Package runtime is the vocabulary that generated code, handlers, policies and adapters share with
// the engine that executes the tool calls of a model: what a tool, a call, an outcome, an event, a
// policy and a participant is. It executes nothing itself. Package runtime/engine does that, and
// imports this package; what imports only this package, such as generated code, links no engine.
//
//	func (h *files) FileRead(ctx context.Context, in *filetools.FileReadInput) (*filetools.FileReadOutput, error)
//
//	reg, err := runtime.NewRegistry(filetools.Tools(h)...)
//	exec, err := engine.NewExecutor(reg, policy)
//
// The documentation of package runtime/engine is the manual of the executor: the order of the checks, capacity, consent,
// artifacts, sinks and observers, the journal. Its example is the complete program.
//
// The standard library also has a package named runtime. The two packages share no exported name.
// A file that needs both imports the standard one as goruntime.
//
// # Tools
//
// A [Tool] binds a [Spec], the declaration, to a handler. Generated code provides Tools(h), which
// returns one Tool per tool of a declaration file and implements each with a method of h.
// Generated code calls [NewTool]. A program that writes its types by hand calls NewTool itself,
// and [NewDynamicTool] for a tool without Go types. A [Registry] holds the tools of an executor.
// NewRegistry reports every invalid tool, not only the first.
//
// The executor does not yet enforce everything that a tool can declare. [Spec.Unenforced] lists
// what a tool declares and the executor ignores: limits.memory of a tool with a handler. A program
// that promises such a limit to its users must enforce it itself, or say that it is not enforced.
//
// # Outcomes
//
// An [Outcome] has one of eight kinds, a [Reason] unless the call completed, and a Message that
// is safe to show to the model. The Message says what is wrong with the arguments, what refuses
// the call, or what the model may do instead.
//
// Panic values, stacks, raw errors and paths of the host never reach an Outcome; the executor
// passes them to the error handler and the sinks. The text of an error that a handler returns
// reaches the model when the tool declares safe_errors, or when [Public] marks the error;
// Detail.Code then holds its code.
//
//	completed   the handler ran and its output was accepted
//	failed      handler_error, panic, invalid_output, output_too_large, preview_failed, commit_failed, interrupted,
//	            resource_exhausted
//	denied      unknown_tool, invalid_input, call_id_reused, shutting_down, run_finished, deadline,
//	            blocked_after_timeout, operation_not_allowed, exiting, idempotency_conflict, duplicate_pending,
//	            start_constraint, prerequisite_missing, order_violation, exclusive_group, max_calls, cooldown,
//	            behavior_not_allowed, capability_missing, mode_off, policy_denied, policy_error,
//	            consent_denied, consent_expired, consent_unavailable, binding_mismatch, at_capacity,
//	            too_many_pending, journal_unavailable, program_changed
//	duplicate   an equal call was made before; Of names it
//	pending     consent_required
//	timed_out   deadline
//	cancelled   cancelled, lease_lost, run_closed
//	unknown     interrupted, commit_failed, journal_unavailable: it may have taken effect
//
// Outcome.Loop, Outcome.Run and Outcome.PendingExit tell the agent loop what to do next.
// Outcome.Steps lists what would make the rules admit the same call.
//
// # Policies
//
// A [Policy] decides whether a call may run: it gets a [PolicyInput] with the decoded arguments, the
// same value that the handler gets, and returns a [Decision] that may deny, ask, allow, rewrite
// arguments and attach obligations. [PolicyInput.Facts] says what happened in the run before the
// call. Package runtime/opa is a Policy written in Rego. The engine denies a call that the policy
// does not allow, and a call whose evaluation fails.
//
// # The handler
//
// Each attempt of a handler runs in its own goroutine. Its time is the least of the deadline of
// the tool, the cap of the turn and the rest of the turn's budget. limits.concurrency bounds how
// many handlers of a tool run at once. Further calls wait in the order of their arrival, within
// the budget of the turn, and are denied at_capacity when it is used up. A handler that outlives
// its call keeps its slot until it returns.
//
// [FromContext] tells a handler which call it serves and how much time remains. At the deadline
// the context ends, and the call ends at the same moment with timed_out, even if the handler
// ignores its context. A result that the handler returns later is reported as the event
// tool.late_result and never as an outcome.
//
// Go cannot stop a goroutine, so a handler that outlives its call can still have effects. An
// effect inside [Commit] cannot happen after the outcome: Commit holds the fence of the call for
// as long as the effect runs, and the outcome waits up to five seconds for an effect that has
// begun. Put the write, the rename or the request into Commit, and prepare it outside:
//
//	content, err := render(ctx, in)
//	...
//	err = runtime.Commit(ctx, func() error { return os.Rename(tmp, path) })
//
// [Report] tells those who follow the call how far the handler is, and what it prints. It passes the same
// fence, and it takes sensitive values out. The output of the call stays what the handler returns:
//
//	err = runtime.Report(ctx, runtime.Progress{Done: n, Total: files, Text: "compiled " + name + "\n"})
//
// A [Participant] takes part in the transaction of a call; [PartOf] returns its part of the
// present attempt. The executor commits the part once it has accepted the output, and rolls it
// back in every other case. Outcome.RolledBack says that nothing is left of what the call did.
//
// The executor runs an idempotent tool that declares retry again when its error is transient
// ([Transient]), or when it has returned within five seconds after its deadline. It first rolls
// back what the failed attempt did. All attempts belong to one call.
//
// A handler that panics or calls the standard runtime.Goexit is a failed call. A panic in a
// goroutine that the handler started, os.Exit and a fatal error of the Go runtime end the
// process. The executor cannot prevent that.
//
// # Events
//
// Every change of the state of a call is one [Event]. [EventKind.Legal] says which event may
// happen in which state. A [Sink] receives the events in order, one at a time. [JSONSink] and
// [LogSink] are part of this package; an application can add a sink for its metrics. Each sink
// has a goroutine and a queue of 8,192 events, so a sink that blocks delays no call. Events that
// do not fit into the queue are dropped. Stats of the executor counts them, the error handler gets a report,
// and the sink gets a sink.dropped event. A [MemorySink] receives each event synchronously.
//
// Events carry sizes and never arguments or outputs. The executor removes the values of members
// marked x-sensitive from the error texts of events.
//
// # Adapters
//
// An approver (consent.Approver) is notified of requests for consent, an [ArtifactStore] keeps long outputs, a [Clock]
// tells the time, and a [Participant] takes part in the transactions of calls. Options of the engine
// set them.
package runtime
