package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A Digest stands for canonical bytes: two calls are equal when their digests are.
type Digest [sha256.Size]byte

// MarshalText returns d in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText sets d to what text says in hexadecimal.
func (d *Digest) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(make([]byte, hex.DecodedLen(len(text))), text); err != nil || n != len(d) {
		return fmt.Errorf("%q is not a digest of %d hexadecimal digits", text, 2*len(d))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

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

	Earlier []Digests // of the same call, as it may have been recorded: no event has them

	// Recorded is set for a call that a replay makes again as it was recorded: no rule refuses it. Only what makes it a
	// call at all is checked: its tool, its run and its id.
	Recorded bool
}

// Digests are Args and Key of a call, as they were made when its tool had another name.
type Digests struct{ Args, Key Digest }

// digests returns the i-th digests under which an equal call may be remembered, those of now first.
func (c *Call) digests(i int) Digests {
	if i == 0 {
		return Digests{c.Args, c.Key}
	}
	return c.Earlier[i-1]
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

var eventNames = [...]string{
	"", "run_started", "admitted", "asked", "rebound", "resumed", "started", "released", "finished", "undone", "stopped",
	"run_closed",
}

// String returns the name of k, such as admitted.
func (k EventKind) String() string { return nameOf("event", eventNames[:], k) }

// MarshalText returns the name of k.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets k to the kind that text names.
func (k *EventKind) UnmarshalText(text []byte) error {
	return parseName("event", eventNames[:], text, k)
}

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

// MarshalText returns the name of s.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the status that text names.
func (s *Status) UnmarshalText(text []byte) error {
	return parseName("status", statusNames[:], text, s)
}

// An Event is one fact. A State is what its events, applied in order, make of a
// new one: an application that records them can rebuild it with Replay, under
// any later Config too. Calls are told apart by their ids; the fields beside Call
// are set where a kind needs them.
//
// What an event did to the state is in the event: that a success finished its run
// (State), and of an undone call all that is taken back. EventUndone has Run only
// when the run was still open, Status StatusOK when the call had succeeded, and
// State RunCleanup when that success had begun the clean-up of its run.
type Event struct {
	Kind      EventKind `json:"kind"`
	At        Instant   `json:"at"`
	Run       string    `json:"run,omitempty"`
	Call      string    `json:"call,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Principal string    `json:"principal,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Args      Digest    `json:"args,omitzero"`
	Key       Digest    `json:"key,omitzero"`
	Status    Status    `json:"status,omitempty"`
	State     RunState  `json:"state,omitempty"` // what the run has become by it, when that is clean-up or its end
}

// of makes ev the event of a kind that repeats what c says.
func (ev *Event) of(kind EventKind, at Instant, c *Call) {
	ev.Kind, ev.At, ev.Run, ev.Call, ev.Agent, ev.Principal = kind, at, c.Run, c.ID, c.Agent, c.Principal
	ev.Tool, ev.Args, ev.Key = c.Tool, c.Args, c.Key
}
