package rules

import (
	"fmt"
	"slices"
	"strconv"
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
	StepWait                        // For passes; with Call, which waits for consent: it is answered, whatever the answer is
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
	return "wait " + Wait(s.For)
}

// Wait prints how long to wait: in whole seconds, or in whole milliseconds if it is
// less than a second. It rounds up, because an earlier call is refused again.
func Wait(d time.Duration) string {
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

// An Outlook says whether there is a way to a refused call.
type Outlook uint8

// The outlooks.
const (
	OutlookUnclear Outlook = iota // there are too many possibilities to tell
	OutlookOpen                   // after the steps the call is admitted
	OutlookNever                  // not in this run, unless something is undone
	OutlookDrop                   // as open, but the steps drop calls, which the caller cannot do
)

var outlookNames = [...]string{"unclear", "open", "never", "drop"}

// String returns unclear, open, never or drop.
func (o Outlook) String() string { return nameOf("outlook", outlookNames[:], o) }

// A Way is what leads to a refused call.
type Way struct {
	Outlook Outlook
	Steps   []Step // OutlookOpen, OutlookDrop: in this order
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
// that was refused by Resume is released first. Only when no other steps lead to
// the call are there some that drop calls.
func (s *State) Unblock(at Instant, c *Call) Way {
	p := s.scopeOf(c)
	if p.tool == nil || p.tool.retired || !p.tool.allows(c) || p.run == nil || p.run.state().Ended() {
		return Way{Outlook: OutlookNever}
	}
	p.tool = p.tool.now
	w := &wayfinder{s: s, now: max(at, s.now), scope: p}
	w.remembered(c)
	w.gather()
	all := w.moves
	w.moves = slices.DeleteFunc(slices.Clone(all), func(m move) bool { return m.kind == StepDrop })
	way := w.find()
	if way.Outlook != OutlookNever || len(w.moves) == len(all) {
		return way
	}
	w.moves = all
	if way = w.find(); way.Outlook == OutlookOpen {
		way.Outlook = OutlookDrop
	}
	return way
}

// find looks for a way of the present moves.
func (w *wayfinder) find() Way {
	if !w.possible() {
		return Way{Outlook: OutlookNever}
	}
	if len(w.moves) > maxMoves {
		return Way{}
	}
	return w.search()
}
