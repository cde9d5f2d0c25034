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
// The id identifies a call within its session: see [Turn.Execute].
//
// A session therefore keeps the outcome of each of its calls. With a journal a session that is idle leaves
// memory, and is loaded again when it is used; without one, drop the references to it when the conversation is over.
//
// [Turn.WhatIf] makes the checks of a call and changes nothing. [WithDecisionTap] follows the decisions.
//
// Package runtime documents the order of the checks, capacity, consent, artifacts, sinks and observers, and package runtime/host the journal.
//
// # Closing and shutdown
//
// [Run.Close] ends a run, [Session.End] a session for good, and [Executor.Shutdown] the work of an executor. Nothing else needs
// to be closed. An executor has no goroutine while no call is being made, except that one which owns a journal renews its
// ownership until Shutdown.
package engine
