package runtime

import "github.com/ambit-tools/ambit/runtime/internal/enum"

// A RunState is the state of a run.
type RunState uint8

// The states of a run.
const (
	RunRunning    RunState = iota
	RunWaiting             // a call waits for consent
	RunCleanup             // an exit tool has succeeded, required tools are open
	RunFinished            // or closed: no call is admitted any more
	RunIncomplete          // as finished, but required tools were open
)

var runStateNames = [...]string{"running", "waiting", "cleanup", "finished", "incomplete"}

// String returns the name of s, such as running.
func (s RunState) String() string { return enum.Name("run state", runStateNames[:], s) }

// MarshalText returns the name of s.
func (s RunState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the state that text names.
func (s *RunState) UnmarshalText(text []byte) error {
	return enum.Parse("run state", runStateNames[:], text, s)
}
