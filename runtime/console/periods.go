package console

import "time"

// A phase is what a call does for some time.
type phase string

// The phases of a call. Each has a shape of its own, beside its color.
const (
	phaseEngine  phase = "engine"  // it is evaluated, recorded, or between two attempts
	phaseConsent phase = "consent" // it waits for an answer
	phaseHandler phase = "handler" // its handler runs
)

// A period is a phase of a call.
type period struct {
	phase      phase
	begin, end time.Time // no end: it is not over
}

// next ends the last phase of a call at an instant, and begins another one; none for an empty phase.
func next(list []period, at time.Time, p phase) []period {
	if n := len(list); n > 0 && list[n-1].end.IsZero() {
		if list[n-1].phase == p && p != phaseHandler { // two attempts are two bars
			return list
		}
		list[n-1].end = at
	}
	if p == "" {
		return list
	}
	return append(list, period{phase: p, begin: at})
}

// phaseAfter is what a call does after an entry; ok is false for an entry that changes nothing of that.
func phaseAfter(kind string) (p phase, ok bool) {
	switch kind {
	case "tool.invoked", "tool.validated", "approval.decided", "tool.authorized", "tool.retrying", "tool.stale", "tool.orphaned":
		return phaseEngine, true
	case "approval.requested":
		return phaseConsent, true
	case "tool.started":
		return phaseHandler, true
	case "tool.completed", "tool.failed", "tool.denied", "tool.aborted", "tool.unknown", "tool.rolled_back":
		return "", true
	}
	return "", false
}
