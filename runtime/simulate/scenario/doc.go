// Package scenario runs cases: sequences of calls of declared tools, each with its
// expected result. Cases need no handlers, have no effect outside the process, and
// run in virtual time. "ambit simulate" runs this package.
//
//	file, err := scenario.Parse("limits.yaml", source)
//	for _, c := range file.Cases {
//		trace, err := c.Run(&scenario.Setup{})
//		fmt.Println(c.Name, trace.Faults())
//	}
//
// The example of this package is that program in full.
//
// # A file
//
//	scenarios: v1
//	cases:
//	- name: one-call-is-enough
//	  tools:
//	    api: {rules: {max_calls: 1}}
//	  steps:
//	  - call: {id: c1, tool: api, args: {n: 1}}
//	    expect: {outcome: executed}
//	  - call: {id: c2, tool: api, args: {n: 2}}
//	    expect: {outcome: denied, reason: max_calls, detail: {max: 1, used: 1}}
//	  final:
//	    used: {api: 1}
//
// Each case has a session, a run and a clock of its own. Its tools are entries
// of a declaration in which everything may be left out: without input any
// arguments pass, and without a deadline a handler takes the time that its call
// says. Its policy is a list of entries {when, decision, set, reason} of which
// all that match count and the strictest wins: error, deny, ask, modify, allow.
// With Setup.Declaration tools and policy come from a real declaration instead;
// principals then hold every capability that it names.
//
// # Steps
//
//	call, what_if   a call, or a prediction of its outcome
//	batch           several calls of one message, in parallel or one after the other
//	approve, deny   an answer to the request that a call made
//	revoke          of the grant that an approval left behind
//	tamper          the stored call is changed without the engine
//	set_policy      the policy is replaced, as by a reload
//	advance         time passes
//	turn, new_run   a continuation of the run, or another run of the session
//	model_stop      the model answers without a call
//	undo, undo_run  of a call, or of all calls of the run
//
// The fields under expect are compared; other fields, and other members of a detail,
// are not. A result has the fields of its step:
//
//	call     outcome (executed, denied, pending, duplicate), status (ok, error, timeout), reason, all_reasons,
//	         detail, loop, of, args, shown_args, run, pending_exit
//	approve  resolution (accepted, recorded, rejected), reason, call
//
// # The engine
//
// This package decides nothing itself: cases run through a engine.Executor, with
// stand-in handlers and a clock that advances when no goroutine has work to do. The
// same file therefore gives the same results, to the byte, every time.
package scenario
