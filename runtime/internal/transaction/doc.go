// Package transaction commits or rolls back what the participants of an executor do for one attempt of
// a call, or of its undo: a two-phase commit (SEMANTICS section 6.8).
//
// A [Transaction] consists of the parts that the participants have begun. [Transaction.Commit] seals
// all of them, has the decision to commit recorded, and then commits them: first the foreign part, whose
// commit may still fail, of which there is one at most. [Transaction.Rollback] rolls the parts back,
// the last first. What neither has settled when the process ends is left to [Settle] of
// the next one.
//
// # Concurrency
//
// Part, Begun, Rollback and Forget are safe for concurrent use. One goroutine commits: it calls BeginSeal in
// the step in which it makes sure that it may, then Commit, then EndSeal. Rollback waits for EndSeal, for
// the grace period at most. The lock of a Transaction is a leaf: no participant is called under it.
package transaction
