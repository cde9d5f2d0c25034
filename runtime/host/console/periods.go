package console

import "time"

// A phase is what a call does for some time.
type phase string

// The phases of a call. Each has a shape of its own, beside its color.
const (
	phaseEngine  phase = "engine"  // it is evaluated or recorded
	phaseConsent phase = "consent" // it waits for an answer
	phaseHandler phase = "handler" // its handler runs, or waits to be tried again
)

// A period is a phase of a call.
type period struct {
	phase      phase
	begin, end time.Time // no end: it is not over
}

// nextAfter continues the periods of a call by an entry. Two attempts are two periods. When the second one begins is
// not recorded: the wait before it counts with it.
func nextAfter(list []period, at time.Time, kind string) []period {
	if kind == "tool.retrying" {
		list = next(list, at, "")
	}
	if p, ok := phaseAfter(kind); ok {
		list = next(list, at, p)
	}
	return list
}

// next ends the last phase of a call at an instant, and begins another one; none for an empty phase.
func next(list []period, at time.Time, p phase) []period {
	if n := len(list); n > 0 && list[n-1].end.IsZero() {
		if list[n-1].phase == p {
			return list
		}
		list[n-1].end = at
	}
	if p == "" {
		return list
	}
	return append(list, period{phase: p, begin: at})
}

// An attemptItem is one run of the handler of a call. It took no time that is known while it runs.
type attemptItem struct {
	After, Took string
	Again       bool // it was tried again
}

// attemptsOf returns the runs of the handler of a call, in their order.
func attemptsOf(c *recordedCall) (list []attemptItem) {
	for _, p := range c.periods {
		if p.phase != phaseHandler {
			continue
		}
		item := attemptItem{After: took(p.begin.Sub(c.began))}
		if !p.end.IsZero() {
			item.Took = took(p.end.Sub(p.begin))
		}
		if n := len(list); n > 0 {
			list[n-1].Again = true
		}
		list = append(list, item)
	}
	return list
}

// phaseAfter is what a call does after an entry; ok is false for an entry that changes nothing of that.
func phaseAfter(kind string) (p phase, ok bool) {
	switch kind {
	case "tool.invoked", "tool.validated", "approval.decided", "tool.authorized", "tool.stale", "tool.orphaned":
		return phaseEngine, true
	case "approval.requested":
		return phaseConsent, true
	case "tool.started", "tool.retrying":
		return phaseHandler, true
	case "tool.completed", "tool.failed", "tool.denied", "tool.aborted", "tool.unknown", "tool.rolled_back":
		return "", true
	}
	return "", false
}
