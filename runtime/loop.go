package runtime

import "github.com/ambit-tools/ambit/runtime/rules"

// A Loop tells the agent loop around the model what to do after a call.
type Loop uint8

// The values of Loop.
const (
	LoopContinue = Loop(rules.HintContinue) // let the model go on
	LoopYield    = Loop(rules.HintYield)    // the model has what it asked for; it need not go on
	LoopWait     = Loop(rules.HintWait)     // until the call is resolved
	LoopExit     = Loop(rules.HintExit)     // the run has ended
)

// String returns continue, yield, wait or exit.
func (l Loop) String() string { return rules.Hint(l).String() }

// MarshalText returns the name of l.
func (l Loop) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText sets l to the value that text names.
func (l *Loop) UnmarshalText(text []byte) error { return (*rules.Hint)(l).UnmarshalText(text) }

// A Step is one thing that has to happen before a refused call is admitted.
type Step = rules.Step
