// Package sched holds what the goroutines of an executor wait with: events, counts of goroutines,
// slots, and the clock.
//
// Every wait goes through a [Scheduler]. With the clock of a simulation that is a [Waiter], the
// Scheduler tells the clock which goroutines have work to do, so that simulated time advances only
// when none has. With the clock of the system that costs nothing.
//
// All types are safe for concurrent use. No method calls code of the application but the clock's.
// Slots, Gate and Count fire events while they hold their mutex, for which the Scheduler acquires its
// own. [Slots.AcquireThen] calls its argument under the mutex of the Slots. Otherwise the package
// acquires no lock while it holds one. The section Locks of package lockorder has the whole order.
package sched
