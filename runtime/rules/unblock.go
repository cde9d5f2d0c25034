package rules

import (
	"fmt"
	"time"
)

// A StepKind says what a Step is.
type StepKind uint8

// The kinds of steps.
const (
	StepCall    StepKind = iota + 1 // Tool is called, with arguments that no rule refuses, and succeeds
	StepFinish                      // Call, which is admitted to start or was started, succeeds
	StepApprove                     // Call, which waits for consent, is approved and succeeds
	StepDrop                        // Call, which has not started, never does: it is denied, expires or is cancelled
	StepWait                        // For passes
)

var stepNames = [...]string{"", "call", "finish", "approve", "drop", "wait"}

// String returns call, finish, approve, drop or wait.
func (s StepKind) String() string { return nameOf("step", stepNames[:], s) }

// MarshalText returns the name of s.
func (s StepKind) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to the kind that text names.
func (s *StepKind) UnmarshalText(text []byte) error { return parseName("step", stepNames[:], text, s) }

// A Step is one thing that has to happen before a refused call is admitted.
type Step struct {
	Kind    StepKind
	Tool    string        // all but wait
	Call    string        // finish, approve, drop
	Consent bool          // call: it will be asked
	For     time.Duration // wait
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
		return fmt.Sprintf("give up %s (%s), which has not started", s.Call, s.Tool)
	}
	return fmt.Sprintf("wait %s", s.For)
}

// An Outlook says whether there is a way to a refused call.
type Outlook uint8

// The outlooks.
const (
	OutlookUnclear Outlook = iota // there are too many possibilities to tell
	OutlookOpen                   // after the steps the call is admitted
	OutlookNever                  // not in this run, unless something is undone
)

var outlookNames = [...]string{"unclear", "open", "never"}

// String returns unclear, open or never.
func (o Outlook) String() string { return nameOf("outlook", outlookNames[:], o) }

// A Way is what leads to a refused call.
type Way struct {
	Outlook Outlook
	Steps   []Step // OutlookOpen: in this order
}

// Limits of the search for a Way.
const (
	maxMoves = 64
	maxNodes = 4096
)

// Unblock returns the shortest list of steps after which the same call, under a
// new id, would be admitted, and of several the one that waits least. A call
// that would be admitted now needs none. Steps are taken to succeed and to take
// no time; what no rule declares, such as a policy, is not looked at. A call
// that was refused by Resume is released first.
func (s *State) Unblock(at Instant, c *Call) Way {
	p := s.placeOf(c)
	if p.tool == nil || !p.tool.allows(c) || p.run == nil || p.run.ended != RunRunning {
		return Way{Outlook: OutlookNever}
	}
	w := &wayfinder{s: s, now: max(at, s.now), place: p}
	w.remembered(c)
	w.gather()
	if !w.possible() {
		return Way{Outlook: OutlookNever}
	}
	if len(w.moves) > maxMoves {
		return Way{}
	}
	return w.search()
}
