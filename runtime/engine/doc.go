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
// Package runtime documents capacity, consent, artifacts, sinks and observers, and package runtime/host the journal.
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
// # Closing and shutdown
//
// [Run.Close] cancels the calls of the run that still run or wait (run_closed) and waits for
// their handlers. [Session.Cancel] ends one call in any state. [Turn.StartCall] starts a call
// without waiting for its outcome.
//
// [Executor.Shutdown] stops admission, lets running calls finish until its context ends, and then
// cancels the rest. Package ossignals calls it when the process receives a signal.
//
// Nothing else needs to be closed. An executor has no goroutine while no call is being made,
// except that one which owns a journal renews its ownership until Shutdown.
package engine
