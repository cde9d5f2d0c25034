package console

import (
	"fmt"
	"strings"
	"time"
)

// barWidth is how wide the time of a run is drawn, in units of the picture.
const barWidth = 1000

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

// A bar is a call in the picture of its run.
type bar struct {
	Parts []barPart
	Words string // the same for who does not see it
}

type barPart struct {
	Kind           phase
	X, Width, Y, H int
}

// shapes are the height and the place of a phase in its bar.
var shapes = map[phase][2]int{phaseEngine: {10, 4}, phaseConsent: {6, 12}, phaseHandler: {2, 20}}

// A row of the table below the picture has the sums of a call.
type timelineRow struct {
	callItem
	Agent, After, Waited, Ran string
	Attempts                  int
	Bar                       bar
}

// A span is the time of a run that the picture shows.
type spanOfRun struct{ begin, end time.Time }

// x returns where an instant is in the picture.
func (s spanOfRun) x(at time.Time) int {
	all := s.end.Sub(s.begin)
	if all <= 0 {
		return 0
	}
	return int(min(max(at.Sub(s.begin), 0), all) * barWidth / all)
}

// barOf draws the phases of a call. Each is at least two units wide, so that none is lost.
func (s spanOfRun) barOf(list []period, row *timelineRow) (b bar) {
	var waited, ran time.Duration
	for _, p := range list {
		end := p.end
		if end.IsZero() {
			end = s.end
		}
		switch took := max(end.Sub(p.begin), 0); p.phase {
		case phaseConsent:
			waited += took
		case phaseHandler:
			ran += took
			row.Attempts++
		}
		x := s.x(p.begin)
		b.Parts = append(b.Parts, barPart{Kind: p.phase, X: min(x, barWidth-2), Width: max(s.x(end)-x, 2), Y: shapes[p.phase][0], H: shapes[p.phase][1]})
	}
	if waited > 0 {
		row.Waited = took(waited)
	}
	if ran > 0 || row.Attempts > 0 {
		row.Ran = took(ran)
	}
	words := []string{row.Tool + " began after " + row.After}
	if row.Waited != "" {
		words = append(words, "waited "+row.Waited+" for an answer")
	}
	if row.Attempts > 0 {
		words = append(words, fmt.Sprintf("ran %s in %s", row.Ran, count(row.Attempts, "attempt")))
	}
	b.Words = strings.Join(append(words, row.Outcome), ", ")
	return b
}
