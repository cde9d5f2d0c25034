package runtime

import "github.com/ambit-tools/ambit/runtime/internal/enum"

// A Loop tells the agent loop around the model what to do after a call.
type Loop uint8

// The values of Loop.
const (
	LoopContinue Loop = iota // let the model go on
	LoopYield                // the model has what it asked for; it need not go on
	LoopWait                 // until the call is resolved
	LoopExit                 // the run has ended
)

var loopNames = [...]string{"continue", "yield", "wait", "exit"}

// String returns continue, yield, wait or exit.
func (l Loop) String() string { return enum.Name("loop", loopNames[:], l) }

// MarshalText returns the name of l.
func (l Loop) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText sets l to the value that text names.
func (l *Loop) UnmarshalText(text []byte) error { return enum.Parse("loop", loopNames[:], text, l) }
