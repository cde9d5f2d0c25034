// Package progress is how far one call has come: its lock, its lifecycle, its state, the contexts of what
// runs for it, what its attempts do, and what its parts have taken.
//
// A [Progress] is used by the worker of the call, by its timer, and by every goroutine that may end it.
// Each method is one step: it changes the lifecycle, measures the part that begins, and lets the timer know
// the new end of the phase. The timer is armed after the lifecycle has that end and the lock is released.
//
// The lock and the lifecycle are exported, because an executor admits, starts and ends a call under the locks
// of the call and its session, with decisions of its own in the same step.
package progress
