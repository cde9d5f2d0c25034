// Package scenario runs cases: sequences of calls of declared tools, each with
// what must come of it. No handler is written for them, nothing outside the
// process is touched, and time is virtual. It is what "ambit simulate" runs.
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
//	call, what_if   a call, or what would come of it
//	batch           several calls of one message, in parallel or one after the other
//	approve, deny   an answer to the request that a call made
//	revoke          of the grant that an approval left behind
//	tamper          the stored call is changed behind the engine's back
//	set_policy      the policy is replaced, as by a reload
//	advance         time passes
//	turn, new_run   a continuation of the run, or another run of the session
//	model_stop      the model answers without a call
//	undo, undo_run  of a call, or of all calls of the run
//
// Under expect stand the fields to compare; others are free, and so is what a
// detail holds beyond what is written. A result has the fields of its step:
//
//	call     outcome (executed, denied, pending, duplicate), status (ok, error, timeout), reason, all_reasons,
//	         detail, loop, of, args, shown_args, run, pending_exit
//	approve  resolution (accepted, recorded, rejected), reason, call
//
// # The engine
//
// Nothing is decided here: cases run through a runtime.Executor, with stand-in
// handlers and a clock that moves on when nobody has anything to do. The same
// file therefore gives the same results, to the byte, every time.
package scenario
