// Package lifecycle is the state machine of one call: the phase that the call is in,
// its attempts, the fence of the present attempt, and which cause may end the call
// when. Like the packages rules and consent it has no clock, I/O or goroutines: times
// are arguments.
//
//	Idle ─▶ Preparing ─▶ Deciding ⇄ Admitting ─▶ Held ─▶ Queued ─▶ Running
//	Admitting ⇄ Previewing, Admitting ─▶ Waiting ─▶ Preparing, Admitting ─▶ Running
//	Running ─▶ Finishing ─▶ Committing or Decided
//	Running ─▶ Grace ─▶ Backoff ─▶ Running, Finishing ─▶ Backoff
//
// A [Call] changes by its methods only. Each method is total: where the step is not
// legal it changes nothing and says so. The caller holds one lock over each method,
// that of the call.
//
// # Who ends a call
//
// [Call.TryEnd] ends a call. Of several causes the first one wins, and later ones are
// refused. A [Cause] may end a call in some phases only: a caller that gives up does
// not end a call that waits for consent, and once the commit is decided only the commit
// ends the call (SEMANTICS 6.8.3). A cause that depends on what it has seen, such as a
// timer, names the [Moment] that it saw, and is refused when the call has moved on.
//
// An end shuts the fence in the same step (SEMANTICS 6.1.5). After an end no phase
// begins, no attempt begins and no handler is released.
//
// # What runs a handler
//
// A handler runs when [Call.Begin] has begun its attempt and [Call.Release] has
// released it. Between the two the executor makes the intent durable (SEMANTICS 6.6.3).
// The zero Call is in the phase Idle. It may end and it may not run a handler.
package lifecycle
