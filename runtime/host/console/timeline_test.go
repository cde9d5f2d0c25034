package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestTimeline: what a call did, and when, is drawn in the time of its run, and told in words.
func TestTimeline(t *testing.T) {
	base := time.Unix(1000, 0)
	at := func(s int) time.Time { return base.Add(time.Duration(s) * time.Second) }
	var list []period
	for i, kind := range []string{"tool.invoked", "approval.requested", "tool.output", "approval.decided", "tool.started", "tool.retrying", "tool.started", "tool.completed", "tool.undone"} {
		list = nextAfter(list, at(i*10), kind)
	}
	row := timelineRow{callItem: callItem{Outcome: "completed"}, After: "0 s"}
	row.Tool = "send"
	b := spanOfRun{at(0), at(100)}.barOf(list, &row)
	want := []barPart{
		{phaseEngine, 0, 100, 10, 4}, {phaseConsent, 100, 200, 6, 12}, {phaseEngine, 300, 100, 10, 4}, {phaseHandler, 400, 100, 2, 20},
		{phaseHandler, 500, 200, 2, 20},
	}
	assert.Equal(t, want, b.Parts)
	assert.Equal(t, "send began after 0 s, waited 20.0 s for an answer, ran 30.0 s in 2 attempts, completed", b.Words)
	assert.Equal(t, []any{"20.0 s", "30.0 s", 2}, []any{row.Waited, row.Ran, row.Attempts})

	open := next(nil, at(90), phaseHandler) // goes on
	b = spanOfRun{at(0), at(100)}.barOf(open, &timelineRow{})
	assert.Equal(t, []barPart{{phaseHandler, 900, 100, 2, 20}}, b.Parts)
	b = spanOfRun{at(0), at(0)}.barOf(open, &timelineRow{})
	assert.Equal(t, 2, b.Parts[0].Width, "it is seen")
	b = spanOfRun{at(0), at(100)}.barOf([]period{{phaseHandler, at(100), at(100)}}, &timelineRow{})
	assert.Equal(t, barWidth, b.Parts[0].X+b.Parts[0].Width, "it is inside the picture")
}
