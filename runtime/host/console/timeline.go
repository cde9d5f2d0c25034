package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/internal/catalog"
)

// barWidth is how wide the time of a run is drawn, in units of the picture.
const barWidth = 1000

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
		words = append(words, fmt.Sprintf("ran %s in %s", row.Ran, catalog.Count(row.Attempts, "attempt")))
	}
	b.Words = strings.Join(append(words, row.Outcome), ", ")
	return b
}
