package rules

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

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
	Steps   []runtime.Step // OutlookOpen, OutlookDrop: in this order
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
	w.moves = slices.DeleteFunc(slices.Clone(all), func(m move) bool { return m.kind == runtime.StepDrop })
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
