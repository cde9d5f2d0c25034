// Package recall reads the calls that a session holds by reference: for a goroutine that awaits one, for a call that
// repeats one, for an undo, and for the overlap of two calls.
//
// Its methods take the lock of the session, never while they read the journal. A call that cannot be read is refused
// with an outcome that says so, and the error handler gets the reason: no method takes a call for one that was never
// made.
package recall
