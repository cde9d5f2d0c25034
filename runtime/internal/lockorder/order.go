package lockorder

// A Lock is one of the types below.
type Lock interface{ lock() }

type ranked struct{}

func (ranked) lock() {}

// The locks, in their order.
type (
	// Sessions is the lock of the sessions of an executor.
	Sessions struct{ ranked }
	// Call is the lock of a call.
	Call struct{ ranked }
	// Session is the lock of a session.
	Session struct{ ranked }
	// Batch keeps entries of the journal in one batch.
	Batch struct{ ranked }
	// Approvals is the lock of the requests for consent and the grants.
	Approvals struct{ ranked }
	// Slots is the lock of the slots of a tool, or of the policy.
	Slots struct{ ranked }
	// Events is the lock of the event that is being emitted.
	Events struct{ ranked }
	// CommitLog is the lock of the queue of the journal.
	CommitLog struct{ ranked }
	// Sink is the lock of the queue of a sink.
	Sink struct{ ranked }
	// Faults is the lock of the queue of the error handler.
	Faults struct{ ranked }
	// Turn is the lock of a turn.
	Turn struct{ ranked }
	// Parts is the lock of the parts of an attempt at participants.
	Parts struct{ ranked }
	// Commands is the lock of the commands that were imported.
	Commands struct{ ranked }
	// Refusals is the lock of the counts of refused attempts.
	Refusals struct{ ranked }
	// Holdings is the lock of what sessions have that are not in memory.
	Holdings struct{ ranked }
	// Undos is the lock of the undo handlers that run.
	Undos struct{ ranked }
	// Workers is the lock of the list of workers.
	Workers struct{ ranked }
	// Worker is the lock of the timer of a worker.
	Worker struct{ ranked }
	// Lease is the lock of the ownership of the journal.
	Lease struct{ ranked }
	// Gate is the lock of the goroutine that waits at a gate.
	Gate struct{ ranked }
	// Count is the lock of a count of goroutines.
	Count struct{ ranked }
	// Scheduler is the lock of the goroutines that wait for events of a simulation.
	Scheduler struct{ ranked }
	// Clock is the lock of the clock of a simulation.
	Clock struct{ ranked }
)

// Order returns the locks. A goroutine that holds one of them acquires only later ones.
func Order() []Lock {
	return []Lock{
		Sessions{}, Call{}, Session{}, Batch{}, Approvals{}, Slots{}, Events{}, CommitLog{}, Sink{}, Faults{},
		Turn{}, Parts{}, Commands{}, Refusals{}, Holdings{}, Undos{}, Workers{}, Worker{}, Lease{},
		Gate{}, Count{}, Scheduler{}, Clock{},
	}
}
