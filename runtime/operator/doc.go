// Package operator says who may act on an executor: who may see and answer a request for consent,
// give and revoke a grant, undo, cancel or resolve a call, switch consent off, read the audit log
// (SEMANTICS section 5.10).
//
// A [Policy] is asked for every such act, wherever it comes from: a console, the command line, MCP or
// the program's own code. What it does not allow, it denies; so do an error, a panic and a policy
// that does not return in time. [Defaults] is the policy of an executor that is given none.
//
//	exec, err := engine.NewExecutor(reg, policy, engine.WithOperators(operators))
//	err = exec.Cancel(ctx, session, call, operator.Actor{ID: "alice", Groups: groups, Method: "token"}, "runs too long")
//
// The component that authenticates an actor sets its id, its groups and the method. Nothing that the
// actor sends may set them.
package operator
