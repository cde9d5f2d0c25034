package rules

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

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
	Set   runtime.Rules // of the whole set; only MaxCalls, Cooldown and their Each mean something there

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
	Rules       runtime.Rules
	Idempotent  bool
	Dedupe      runtime.Dedupe
	Idempotency *Idempotency
	Undo        time.Duration // for how long a call can be undone; 0: it cannot
	Consent     bool          // every call is asked; steps that unblock say so
}

// An Idempotency says for how long, from the end of a call, its idempotency key
// is remembered.
type Idempotency struct {
	Window time.Duration
}
