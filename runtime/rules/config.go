package rules

import "time"

// An Instant is a point in time: nanoseconds since an epoch that the caller
// chooses once for a session.
type Instant int64

// Add returns the instant d after i. It stops at the last one there is.
func (i Instant) Add(d time.Duration) Instant {
	if sum := i + Instant(d); d < 0 || sum >= i {
		return sum
	}
	return 1<<63 - 1
}

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// A Config declares a set of tools and their rules.
type Config struct {
	Tools []Tool
	Set   Rules // of the whole set; only MaxCalls, Cooldown and their Each mean something there

	// Reminders is how often a model that stops is reminded of open exit
	// requirements before its run ends incomplete. 0: DefaultReminders;
	// negative: none.
	Reminders int
}

// DefaultReminders is the number of reminders where a Config names none (SEMANTICS 4.15).
const DefaultReminders = 2

// A Tool is what the rules need to know of one declared tool.
type Tool struct {
	Name        string
	Former      []string // earlier names: what was recorded under them is of this tool
	Rules       Rules
	Idempotent  bool
	Dedupe      Dedupe
	Idempotency *Idempotency
	Undo        time.Duration // for how long a call can be undone; 0: it cannot
	Consent     bool          // every call is asked; steps that unblock say so
}

// Rules are the rules of one tool or of a whole set of tools.
type Rules struct {
	StartConstraint    bool
	RequiresPreceding  []string
	AnyPreceding       bool // any of RequiresPreceding is enough
	MustPrecede        []string
	ExclusiveGroups    []string
	RequiredBeforeExit bool
	MaxCalls           int  // 0: no limit
	MaxCallsEach       bool // of a set: counted for each tool
	Cooldown           time.Duration
	CooldownEach       bool // of a set: one timer for each tool
	ContinueLoop       bool
	ExitLoop           bool
	AllowedOperations  *AllowedOperations
}

// AllowedOperations limits the values of one string argument.
type AllowedOperations struct {
	Arg    string
	Values []string
}

// A DedupeMode says when an equal call is answered with the earlier one.
type DedupeMode uint8

// The dedupe modes.
const (
	DedupeNever  DedupeMode = iota
	DedupeWindow            // until Window after the end of the earlier call
	DedupeAlways            // for the whole session
)

var dedupeNames = [...]string{"never", "window", "always"}

// String returns never, window or always.
func (m DedupeMode) String() string { return nameOf("dedupe", dedupeNames[:], m) }

// MarshalText returns the name of m.
func (m DedupeMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// A Dedupe says whether an equal call is answered with the earlier one.
type Dedupe struct {
	Mode   DedupeMode
	Window time.Duration
}

// An Idempotency says for how long, from the end of a call, its idempotency key
// is remembered.
type Idempotency struct {
	Window time.Duration
}
