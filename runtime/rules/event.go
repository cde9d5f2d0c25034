package rules

import "crypto/sha256"

// A Digest stands for canonical bytes: two calls are equal when their digests are.
type Digest [sha256.Size]byte

// DigestOf returns the digest of canonical bytes.
func DigestOf(canonical []byte) Digest { return sha256.Sum256(canonical) }

// A Call is what is asked of a tool, as far as rules look at it. Engine.Wants
// says which of the last fields a tool needs.
type Call struct {
	ID        string // unique in the session
	Run       string
	Agent     string // the sub-agent that calls; empty: the run itself
	Principal string // on whose behalf
	Tool      string

	Args         Digest // of the canonical arguments
	Key          Digest // of the members that make the idempotency key
	Operation    string // value of the argument that allowed_operations looks at
	HasOperation bool   // that argument is present
}

// An EventKind says which fact an Event records.
type EventKind uint8

// The kinds of events, each with the method of State that makes it.
const (
	EventRunStarted EventKind = iota + 1 // StartRun
	EventAdmitted                        // Admit
	EventAsked                           // Ask
	EventRebound                         // Rebind
	EventResumed                         // Resume
	EventStarted                         // Commit
	EventReleased                        // Release
	EventFinished                        // Finish
	EventUndone                          // Undo
	EventStopped                         // Stop
	EventRunClosed                       // CloseRun
)

// A Status says how an invocation ended.
type Status uint8

// The statuses.
const (
	StatusOK      Status = iota + 1
	StatusError          // failed, or rolled back: nothing keeps an equal call from being tried
	StatusTimeout        // given up on, or cancelled: may have taken effect
	StatusUnknown        // interrupted: may have taken effect; Finish may be called once more
)

var statusNames = [...]string{"", "ok", "error", "timeout", "unknown"}

// String returns ok, error, timeout or unknown.
func (s Status) String() string { return nameOf("status", statusNames[:], s) }

// An Event is one fact. A State is what its events, applied in order, make of a
// new one: whoever records them can rebuild it with Replay. Calls are told
// apart by their ids; the fields beside Call are set where a kind needs them.
type Event struct {
	Kind      EventKind
	At        Instant
	Run       string
	Call      string
	Agent     string
	Principal string
	Tool      string
	Args, Key Digest
	Status    Status
}

// of makes ev the event of a kind that repeats what c says.
func (ev *Event) of(kind EventKind, at Instant, c *Call) {
	ev.Kind, ev.At, ev.Run, ev.Call, ev.Agent, ev.Principal = kind, at, c.Run, c.ID, c.Agent, c.Principal
	ev.Tool, ev.Args, ev.Key = c.Tool, c.Args, c.Key
}
