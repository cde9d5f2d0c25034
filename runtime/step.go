package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/enum"
)

// A StepKind says what a Step is.
type StepKind uint8

// The kinds of steps.
const (
	StepCall    StepKind = iota + 1 // Tool is called, with arguments that no rule refuses, and succeeds
	StepFinish                      // Call, which is admitted to start or was started, succeeds
	StepApprove                     // Call, which waits for consent, is approved and succeeds
	StepDrop                        // Call, which has not started, never does: it is denied, expires or is cancelled
	StepWait                        // For passes; with Call, which waits for consent: it is answered, whatever the answer is
)

var stepNames = [...]string{"", "call", "finish", "approve", "drop", "wait"}

// String returns call, finish, approve, drop or wait.
func (s StepKind) String() string { return cmp.Or(enum.Name("step", stepNames[:], s), "step(0)") }

// MarshalText returns the name of s.
func (s StepKind) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the kind that text names.
func (s *StepKind) UnmarshalText(text []byte) error {
	if len(text) == 0 { // of no kind
		return errors.New("a step has no kind")
	}
	return enum.Parse("step", stepNames[:], text, s)
}

// A Step is one thing that has to happen before a refused call is admitted.
type Step struct {
	Kind    StepKind
	Tool    string        // all but a wait for time
	Call    string        // finish, approve, drop, a wait for an answer
	Consent bool          // call: it will be asked
	For     time.Duration // a wait for time
}

// String returns a few words for people, such as "call init" or "wait 6s".
func (s Step) String() string {
	switch s.Kind {
	case StepCall:
		if s.Consent {
			return "call " + s.Tool + " (needs consent)"
		}
		return "call " + s.Tool
	case StepFinish:
		return fmt.Sprintf("let %s (%s) finish", s.Call, s.Tool)
	case StepApprove:
		return fmt.Sprintf("get consent for %s (%s)", s.Call, s.Tool)
	case StepDrop:
		return fmt.Sprintf("%s (%s), which has not started, is denied or cancelled", s.Call, s.Tool)
	}
	if s.Call != "" {
		return fmt.Sprintf("wait until %s (%s) is answered", s.Call, s.Tool)
	}
	return "wait " + WaitText(s.For)
}

// WaitText returns how long to wait: in whole seconds, or in whole milliseconds if it is
// less than a second. It is rounded up, because an earlier call is refused again.
func WaitText(d time.Duration) string {
	unit, name := time.Second, "s"
	if 0 < d && d <= time.Second-time.Millisecond {
		unit, name = time.Millisecond, "ms"
	}
	n := d / unit
	if d%unit > 0 {
		n++
	}
	return strconv.FormatInt(int64(n), 10) + name
}
