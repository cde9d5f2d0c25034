// Package lockorder holds the order in which the engine acquires its locks.
//
// A mutex names its place in its type, as in
//
//	mu lockorder.Mutex[lockorder.Session]
//
// so that its zero value is ready. It is a sync.Mutex. With the build tag ambitdebug it is a type
// that records the locks of each goroutine, and ends the process when a goroutine acquires a lock
// that does not come after all the locks that the goroutine holds. The section Locks lists the same
// locks and says what each of them guards.
//
// # Locks
//
// A goroutine that holds a lock acquires only locks further down this list: "then" those named. The
// last two, which only a simulated clock needs, may follow any. The executor calls no handler,
// policy, approver, observer or participant under a lock. The build tag ambitdebug checks the order.
//
//   - Sessions, Set.mu of residence: which sessions are in memory, and the idle ones; then Session, Approvals, CommitLog, Scheduler.
//   - Call, call.mu of engine: the phase, attempt, state, fence and parts of one call; then Session, Batch, Approvals, Slots, Events, CommitLog, Sink, Faults, Turn, Parts.
//   - Session, Session.mu of engine: the rule state, records, runs and reservations of a session; then Batch, Approvals, Slots, Events, CommitLog, Sink, Faults, Turn.
//   - Batch, Writer.hold of commitlog: shared, it keeps entries in one write of the journal; then Approvals, Events, CommitLog, Sink, Faults.
//   - Approvals, Approvals.mu of approvals: the book of requests and grants, and its timer; then Slots, Events, CommitLog, Sink, Faults.
//   - Slots, Slots.mu of sched: the slots of a tool, or of the policy, and the queue for them; then Events, CommitLog, Sink, Faults.
//   - Events, Delivery.emitting of outbox: the event that is recorded and given to the sinks; then CommitLog, Sink, Faults.
//   - CommitLog, Writer.mu of commitlog: the entries that are not durable yet; a leaf.
//   - Sink, Outbox.mu of outbox: the events that wait for one sink; then Faults.
//   - Faults, Outbox.mu of outbox: the faults that wait for the error handler; a leaf.
//   - Turn, blockedTools.mu of engine: the tools that are blocked in a turn; a leaf.
//   - Parts, Transaction.mu of transaction: the parts of an attempt at participants; a leaf.
//   - Commands, Once.mu of commands: the nonces of imported commands; a leaf.
//   - Refusals, Refusals.mu of acts: how often actors were refused; a leaf.
//   - Holdings, Ledger.mu of holdings: what sessions have that must be found without reading them; a leaf.
//   - Undos, undoHandlers.mu of engine: the undo handlers that run; a leaf.
//   - Workers, workers.mu of engine: the workers, and which are free; a leaf.
//   - Worker, worker.mu of engine: the timer of a worker; a leaf.
//   - Lease, Lease.mu of lease: the timers that renew the ownership of the journal; a leaf.
//   - Gate, Gate.mu of sched: which goroutine waits until a closed gate is empty; a leaf.
//   - Count, Count.mu of sched: observers that are being called; a leaf.
//   - Scheduler, Scheduler.mu of sched: which goroutine waits for which event; then Clock.
//   - Clock, Clock.mu of simulated: the time and the timers of a simulation; a leaf.
package lockorder
