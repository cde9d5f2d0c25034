// Package state keeps keys and values for tools, in the database of the journal.
//
// A [State] takes part in the transactions of calls (engine.WithParticipant):
// what a handler sets is seen by that call alone until it completes, stands from
// then on, and is forgotten when the call does not complete. A call that has read
// or set what another one has changed meanwhile does not commit (commit_failed):
// it can be made again.
//
//	st, err := state.Open(ctx, h.Store)            // in host.Config.Setup, or with any *sqlite.Store
//	option := engine.WithParticipant("state", st) // for the executor
//	...
//	n, err := st.Get(ctx, "orders/7")                       // in a handler
//	err = st.Set(ctx, "orders/7", append(n, '!'))
//
// For undo, [State.Snapshot] tells in a Prepare handler what was there, and
// [State.Restore] puts it back in an Undo handler, unless something else is there
// by then than the call has left. An undo handler has a transaction as a handler
// has: it may also use Get, Set and Delete.
package state
