// Package sqltx lets the application's own database take part in the
// transactions of calls: what a handler does through [Participant.Tx] is
// committed when its call completes, and rolled back when it does not.
//
// The database is a system of its own. Its commit comes after it was recorded
// that what the call did will stand; when it fails everything else is rolled back
// and the call has failed (commit_failed). When the process dies in between, or
// the connection is lost during the commit, the executor cannot find out whether it
// was committed: the call is unknown, until its tool's reconcile handler, a person or
// an undo says what became of it. The same holds where the handler, or a library that it
// gave the *sql.Tx, has ended the transaction itself. A call has one such transaction at
// most.
//
// Open the database before the executor and close it after: a shutdown rolls back what
// still runs.
package sqltx
