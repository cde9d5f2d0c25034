package runtime

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/enum"
)

// A State is the state of a call in its life cycle.
type State uint8

// The states of a call.
const (
	StateDeclared   State = iota // the call exists; nothing of it has been checked
	StateValidated               // its tool exists and its input is valid
	StateAuthorized              // policy and rules admit it; what it needs is reserved
	StateExecuting               // its handler was started
	StateCompleted
	StateFailed
	StateDenied
	StateAborted
	StateRolledBack
)

var stateNames = [...]string{
	"DECLARED", "VALIDATED", "AUTHORIZED", "EXECUTING", "COMPLETED", "FAILED", "DENIED", "ABORTED", "ROLLED_BACK",
}

// String returns the name of s, such as EXECUTING.
func (s State) String() string { return enum.Name("state", stateNames[:], s) }

// MarshalText returns the name of s.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the state that text names.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse("state", stateNames[:], text, s) }

// Ended reports whether a call in state s has its outcome.
func (s State) Ended() bool { return s >= StateCompleted }

// An EventKind names what happened to a call.
type EventKind uint8

// The kinds of events. Legal reports which of them may happen in which state.
const (
	EventInvoked EventKind = iota
	EventValidated
	EventApprovalRequested
	EventApprovalDecided
	EventApprovalExpiring
	EventAuthorized
	EventDenied
	EventStarted
	EventOutput
	EventRetrying
	EventCompleted
	EventFailed
	EventAborted
	EventRolledBack
	EventStale
	EventOrphaned
	EventUnknown
	EventReconciled
	EventUndone
	EventUndoFailed
	EventLateResult
	EventLingering   // its handler still runs when the grace after the end of the call is over
	EventConsentOff  // of no call
	EventSinkDropped // of no call, and for one sink only, which has missed events
)

var eventNames = [...]string{
	"tool.invoked", "tool.validated",
	"approval.requested", "approval.decided", "approval.expiring",
	"tool.authorized", "tool.denied", "tool.started", "tool.output", "tool.retrying",
	"tool.completed", "tool.failed", "tool.aborted", "tool.rolled_back",
	"tool.stale", "tool.orphaned", "tool.unknown", "tool.reconciled",
	"tool.undone", "tool.undo_failed", "tool.late_result", "tool.lingering",
	"consent.off", "sink.dropped",
}

// String returns the name of k, such as tool.started.
func (k EventKind) String() string { return enum.Name("event", eventNames[:], k) }

// MarshalText returns the name of k.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An Event is one transition of one call. It holds sizes and never arguments or
// outputs. The values of members marked x-sensitive are removed from error texts.
type Event struct {
	Seq  uint64 // grows by one with every event of an executor; 0: of sink.dropped, or not recorded (journal.ErrUnavailable)
	Time time.Time
	Kind EventKind
	From State
	To   State

	Tool, ToolVersion string
	CallID            string
	SessionID, RunID  string
	Turn              int    // of the run, from 1; 0: not known, or of no call
	ClientRequest     string // the request_id of the call's metadata; empty: none
	Agent             string // the sub-agent; empty: none
	Principal         string
	RequestID         string // of the request for consent
	By                string // the id of the person who answered, undid, or switched consent off
	Resolution        string // of an answer: accepted, recorded or rejected; of an undo that failed: rejected or failed
	Rejection         string // of a rejected answer, or an undo that failed: why
	Attempt           int    // 0 before the handler was started

	Notes       []string    // of the outcome, when To has ended
	Outcome     OutcomeKind // when To has ended
	Reason      Reason
	AllReasons  []Reason
	Revision    string        // of the policy
	Duration    time.Duration // since the call was made; of an undo since that was asked for
	Times       Times         // of an outcome, and the Handler of an undo
	InputBytes  int
	OutputBytes int
	Dropped     uint64      // of sink.dropped: how many events the sink has missed
	Live        *LiveCounts // of tool.output

	// For operators only, never for the model.
	Err   string // error text, panic value or violations
	Stack string // of a panic
}

// LiveCounts says how much a handler has reported, or its process has written.
type LiveCounts struct {
	Bytes   int64 `json:"bytes"`             // of the texts of all pieces
	Dropped int64 `json:"dropped,omitempty"` // that were not told: too much, or masked by the policy
	Pieces  int64 `json:"pieces"`
	Done    int64 `json:"done,omitempty"` // as the handler says, of Total
	Total   int64 `json:"total,omitempty"`
}

// A Sink receives every event of an executor, one at a time, in the order of Seq. Each sink has its
// own goroutine, so a sink that blocks delays no call. 8,192 events wait for a sink. Further events
// are dropped, which is reported to the error handler; when the sink takes events again it gets a
// sink.dropped event. Only the journal is complete. Flush and Shutdown wait for queued events. A
// MemorySink receives each event synchronously.
//
// The event belongs to the sink, and is valid during the call of Emit: its lists must
// not be changed. An error is reported to the error handler and changes nothing else.
type Sink interface {
	Emit(*Event) error
}
