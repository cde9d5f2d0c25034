package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// IsAtLeastVersion0_1 is referenced by generated code, so that a runtime that is older than the
// generator fails to compile with a readable name.
const IsAtLeastVersion0_1 = true

// A Spec is the declaration of one tool. Generated code holds one per tool. It must not be changed
// after it was given to NewTool.
//
// The zero value of every field is its safe or default value: a tool whose effect is not declared
// is destructive, a deadline of 0 is DefaultDeadline, limits of 0 are the defaults of Limits.
// Unenforced lists the fields that this version carries but does not enforce yet.
type Spec struct {
	Name        string   // [a-z][a-z0-9_]{0,63}
	Alias       string   // the name under which clients know the tool; empty: Name
	RenamedFrom []string // earlier names, the earliest first, which calls may still use
	Version     string
	Title       string
	Description string
	Pin         string // hash of the whole declaration

	Effect        SideEffect
	Idempotent    bool
	Deterministic bool
	Capabilities  []string
	Behaviors     []string // behaviors in which the tool may run; empty: all
	Modes         []Mode

	Deadline      time.Duration // of one attempt
	Limits        Limits
	Retry         *Retry
	SafeErrors    bool          // the handler's error text may reach the model; Public marks a single error
	Heartbeat     bool          // takes request_heartbeat
	Every         time.Duration // 0: not periodic
	Args          string        // complete arguments as JSON; empty: none
	Dedupe        Dedupe
	Idempotency   *Idempotency
	Consent       *Consent
	Undo          *UndoSpec
	Transactional bool // all effects of a call go through participants (PartOf): an interrupted call is rolled back, and failed
	Reconcile     bool
	Artifact      *Artifact
	Rules         Rules
	Set           *Rules // of the whole set of tools that the tool belongs to; nil: none
	Deprecated    *Deprecation
	Command       *Command // what the tool runs; nil: it has a handler

	// The published JSON Schemas (2020-12); nil when there are none. They are pointers so that the
	// Spec of a generated tool, whose schemas are embedded files, is static data: no code runs at
	// start, and the compiler does not have to initialize a thousand tools in one function.
	InputSchema, OutputSchema *string
}

// A Mode is a gate: the tool may run only while the session's mode has one of the values.
type Mode struct {
	Name   string
	Values []string
}

// Limits are the limits of one call, or of all calls of a tool together.
type Limits struct {
	Input  int64 // bytes; 0: 64 KiB
	Output int64 // bytes; 0: 1 MiB
	Memory int64 // bytes; 0: not declared
	// Concurrency is how many handlers run at once in one executor; 0: unlimited. Further calls wait
	// until the turn's budget is used up; in a turn without a budget, for the deadline of the tool.
	Concurrency int
	// Queue is how many calls of the tool may wait for a slot, or be evaluated, beside those that
	// run: one more is denied at_capacity at once, before the policy and the journal (SEMANTICS
	// section 6.3). 0: 4 times Concurrency; NoQueue: none.
	Queue int
}

// NoQueue is Limits.Queue of a tool whose calls never wait for a slot.
const NoQueue = -1

// A Retry says how often and how fast a failed idempotent call is retried.
type Retry struct {
	Max          int
	Initial, Cap time.Duration
	OnTimeout    bool // a timeout is retryable
}

// An Idempotency names the input members that identify an effect.
type Idempotency struct {
	Key    []string
	Window time.Duration
}

// A Consent says when a call needs consent and from which approvers.
type Consent struct {
	Ask       ConsentAsk
	Message   string
	Approvers []string
	Timeout   time.Duration
	Quorum    int
	MaxCover  GrantCover
	MaxFor    time.Duration // of a grant for a duration; zero: 24 hours
	Preview   bool
	AllowEdit bool
	AllowSelf bool
	Reveal    []string // x-sensitive members that approvers may see
}

// An UndoSpec says how long a call can be undone and what is stored for that.
type UndoSpec struct {
	TTL         time.Duration
	StateSchema *string // as InputSchema
}

// An Artifact says when an output is stored as an artifact, and of which type.
type Artifact struct {
	Over int    // characters of the output as JSON; 0: DefaultArtifactOver
	Type string // media type of what the output holds; empty: application/json
}

// A Deprecation marks a tool that should no longer be used.
type Deprecation struct {
	Since, Use, Message string
	RemoveIn            string // the version without the tool; empty: not said
}

// FirstName returns the name that the tool had at first: the first of RenamedFrom, or else Name. Idempotency keys are
// made of it, so that they outlast renames (SEMANTICS 1.5.4).
func (s *Spec) FirstName() string {
	if len(s.RenamedFrom) > 0 {
		return s.RenamedFrom[0]
	}
	return s.Name
}

// Migration returns what the caller of a tool under a name should know: that the name is an earlier
// one, and what takes the place of a deprecated tool. It is nil for most calls (SEMANTICS 1.5.2).
func (s *Spec) Migration(name string) (notes []string) {
	if slices.Contains(s.RenamedFrom, name) {
		notes = append(notes, fmt.Sprintf("the tool %s is now %s: call it by that name", name, cmp.Or(s.Alias, s.Name)))
	}
	if s.Deprecated != nil {
		notes = append(notes, s.Name+" is "+s.Deprecated.String())
	}
	return notes
}

// String says since when and until when, what to use and what to do.
func (d *Deprecation) String() string {
	text := "deprecated since " + d.Since
	if d.RemoveIn != "" {
		text += ", and removed in " + d.RemoveIn
	}
	if d.Use != "" {
		text += ": use " + d.Use
	}
	return text + ". " + d.Message
}

// The defaults of a Spec whose fields are zero (SEMANTICS 8.1).
const (
	DefaultDeadline    = 45 * time.Second
	DefaultInputLimit  = 64 << 10
	DefaultOutputLimit = 1 << 20
)

// Unenforced lists the declared fields, by their names in the declaration, that this version
// carries but does not enforce. A caller that promises enforcement to its users must tell them
// these exceptions.
func (s *Spec) Unenforced() []string {
	var names []string
	add := func(declared bool, name string) {
		if declared {
			names = append(names, name)
		}
	}
	add(s.Limits.Memory > 0 && s.Command == nil, "limits.memory")
	return names
}
