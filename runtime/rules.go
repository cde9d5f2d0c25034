package runtime

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/enum"
)

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
func (m DedupeMode) String() string { return enum.Name("dedupe", dedupeNames[:], m) }

// MarshalText returns the name of m.
func (m DedupeMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// A Dedupe says whether an equal call is answered with the earlier one.
type Dedupe struct {
	Mode   DedupeMode
	Window time.Duration
}
