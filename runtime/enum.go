package runtime

import (
	"github.com/ambit-tools/ambit/runtime/internal/enum"
)

// A SideEffect says how a tool affects external state.
type SideEffect uint8

// The side effects, the most careful first.
const (
	SideEffectDestructive SideEffect = iota // may destroy state that cannot be restored
	SideEffectWrite                         // changes state
	SideEffectRead                          // changes no state
)

// A ConsentAsk says whether the policy or the declaration asks for consent.
type ConsentAsk uint8

// The values of ConsentAsk.
const (
	ConsentAskPolicy ConsentAsk = iota // the policy decides
	ConsentAskAlways                   // every call is asked
)

// An Effect is what a policy decides about a call.
type Effect uint8

// The effects of a decision. What is not decided is denied.
const (
	EffectDeny Effect = iota
	EffectAsk
	EffectAllow
)

var (
	sideEffectNames = [...]string{"destructive", "write", "read"}
	consentAskNames = [...]string{"policy", "always"}
	effectNames     = [...]string{"deny", "ask", "allow"}
)

// String returns the name of e in a declaration: read, write or destructive.
func (e SideEffect) String() string { return enum.Name("effect", sideEffectNames[:], e) }

// MarshalText returns the name of e.
func (e SideEffect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText sets e to the side effect that text names.
func (e *SideEffect) UnmarshalText(text []byte) error {
	return enum.Parse("effect", sideEffectNames[:], text, e)
}

// String returns policy or always.
func (a ConsentAsk) String() string { return enum.Name("ask", consentAskNames[:], a) }

// MarshalText returns the name of a.
func (a ConsentAsk) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String returns deny, ask or allow.
func (e Effect) String() string { return enum.Name("effect", effectNames[:], e) }

// MarshalText returns the name of e.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText sets e to the effect that text names.
func (e *Effect) UnmarshalText(text []byte) error {
	return enum.Parse("effect", effectNames[:], text, e)
}
