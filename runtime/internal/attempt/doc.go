// Package attempt is what code of a tool does while it runs for a call: its context, the fence that
// its effects pass, and its parts at participants.
//
// A [Scope] belongs to a call, or to the undo of one. [Scope.Begin] makes the [Context] of each
// attempt, which runtime.FromContext, runtime.Commit and runtime.PartOf work on. Only the latest
// attempt has effects, and only while the fence of its lifecycle is open. [Scope.Seal] shuts the
// fence before a commit, [Scope.ShutFence] before a rollback: what the code does after either of
// them is refused with runtime.ErrFenced.
//
// The lock and the lifecycle are those of the owner, because who may end the call and which effects
// are let in are decided in one step.
package attempt
