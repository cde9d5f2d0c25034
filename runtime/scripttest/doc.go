// Package scripttest lets testscript files make calls of an application's own
// tools: with their real handlers and policies, through an executor whose clock
// moves when the script says so.
//
//	func TestCalls(t *testing.T) {
//		params := testscript.Params{Dir: "testdata/calls"}
//		scripttest.Setup(&params, scripttest.App{
//			Tools:   func(dir string) ([]*runtime.Tool, error) { return filetools.Tools(&Handler{Dir: dir}), nil },
//			Policy:  loadPolicy,
//			Session: engine.SessionConfig{Principal: "alice", Capabilities: []string{"files.write"}},
//		})
//		testscript.Run(t, params)
//	}
//
// A script has an executor, a session and a run of its own. Its commands are
//
//	call ID TOOL [ARGS]         make a call; ARGS is JSON or @FILE, {} without
//	batch MODE FILE             make the calls of one message, parallel or sequential: a line "ID TOOL ARGS" each
//	outcome ID KIND [REASON]    require how a call stands: completed, failed, denied, pending ...
//	approve ID BY [KEY=VALUE]   answer the request of a call; with ! the answer must be rejected
//	deny ID BY [groups=G] [MESSAGE]
//	                            the same
//	advance DURATION            time passes
//	now INSTANT                 time passes until an instant, such as 2026-03-01T09:30:00Z
//	stop [STATE]                the model answers without a call; the run must then be in STATE, such as finished
//	undo ID                     take the effects of a call back; with ! this must not succeed
//	twice TOOL [ARGS]           make a call twice on equal state, and require the same; with ! a difference
//
// The keys of approve are groups (names of groups of BY, with commas between), grant (once, duration, session), for (a duration),
// cover (exact, args, tool), edit (JSON or @FILE) and, for cover=args, where:
// MEMBER OP JSON, as in 'where=path below "docs"', with the comparisons of docs/consent.md.
//
// The command twice checks a tool that is declared deterministic. Each time the
// application is made anew, in the folder as it is, and everything is allowed. What
// is compared is the outcome, the output, and the files of the folder, which is
// afterwards as before: effects elsewhere are not seen.
//
// Commands write what came of them to standard output, which the commands
// stdout and cmp look at: for a call its id, kind, reason and message or output. The log of a script, which go test
// prints when the script fails and with -v, also has what no model is told: raw errors of handlers and policies, and panics.
//
//	call c1 file_write '{"path": "a.md", "content": "one"}'
//	outcome c1 pending consent_required
//	approve c1 alice grant=duration for=10m
//	stdout 'c1 completed {"size":3}'
//	exists a.md
//	advance 10m
//	call c2 file_write '{"path": "a.md", "content": "one"}'
//	outcome c2 pending
//
// The clock begins at App.Now. A handler that works takes no time on this clock.
// Sleeping by the time package takes real time, and no time on this clock either.
package scripttest
