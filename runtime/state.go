package runtime

// A stateSet is a set of states, one bit each.
type stateSet uint16

// The sets that hold one state each, to be joined in the life cycle below.
const (
	declared   = stateSet(1) << StateDeclared
	validated  = stateSet(1) << StateValidated
	authorized = stateSet(1) << StateAuthorized
	executing  = stateSet(1) << StateExecuting
	completed  = stateSet(1) << StateCompleted
	failed     = stateSet(1) << StateFailed
	denied     = stateSet(1) << StateDenied
	aborted    = stateSet(1) << StateAborted
	rolledBack = stateSet(1) << StateRolledBack
)

// lifecycle holds, for every kind of event and every state in which it may happen, the states that
// it may lead to. Any other transition is illegal.
var lifecycle = [...][StateRolledBack + 1]stateSet{
	EventInvoked:   {StateDeclared: declared},
	EventValidated: {StateDeclared: validated},

	EventApprovalRequested: {
		StateValidated:  validated,
		StateAuthorized: validated, // after a restart, evaluated again
	},
	EventApprovalDecided: { // a late answer changes nothing
		StateDeclared: declared, StateValidated: validated, StateAuthorized: authorized, StateExecuting: executing,
		StateCompleted: completed, StateFailed: failed, StateDenied: denied, StateAborted: aborted, StateRolledBack: rolledBack,
	},
	EventApprovalExpiring: {StateValidated: validated},

	EventAuthorized: {
		StateValidated:  authorized,
		StateAuthorized: authorized, // after a restart, evaluated again
	},
	EventDenied: {
		StateDeclared: failed | denied, StateValidated: denied, StateAuthorized: denied,
		StateExecuting: denied, // the start could not be recorded, and the handler was not released
	},

	EventStarted:  {StateAuthorized: executing},
	EventOutput:   {StateExecuting: executing},
	EventRetrying: {StateExecuting: executing},

	EventCompleted: {StateExecuting: completed},
	EventFailed: {
		StateValidated: failed, // the preview failed
		StateExecuting: failed,
	},
	EventAborted: {
		StateDeclared: aborted, StateValidated: aborted, StateAuthorized: aborted, StateExecuting: aborted,
	},
	EventRolledBack: {StateExecuting: rolledBack, StateFailed: rolledBack, StateAborted: rolledBack},

	EventStale: {
		StateValidated: validated, StateAuthorized: authorized, // the declaration of a call that waits has changed
		StateExecuting: executing,
	},
	EventOrphaned:   {StateExecuting: executing},
	EventUnknown:    {StateExecuting: executing},
	EventReconciled: {StateExecuting: completed | failed | rolledBack},

	EventUndone:     {StateCompleted: rolledBack, StateAborted: rolledBack, StateExecuting: rolledBack},
	EventUndoFailed: {StateCompleted: completed, StateAborted: aborted, StateExecuting: executing},

	EventConsentOff: {StateDeclared: declared},
	EventLateResult: {StateFailed: failed, StateAborted: aborted, StateRolledBack: rolledBack},
	EventLingering:  {StateAborted: aborted, StateRolledBack: rolledBack},
	// EventSinkDropped belongs to no call.
	EventSinkDropped: {},
}

// Legal reports whether k may take a call from one state to another. In addition, EventInvoked is
// the first event of every call and never a later one.
func (k EventKind) Legal(from, to State) bool {
	return int(k) < len(lifecycle) && from <= StateRolledBack && to <= StateRolledBack &&
		lifecycle[k][from]&(1<<to) != 0
}
