package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestForget: a session that has ended keeps the calls about which something is still to be said, and their runs.
// SEMANTICS 1.4.5
func TestForget(t *testing.T) {
	m := sessionMemory(t, true, nil)
	kept := []string{"unknown", "runs", "undoing"}
	for _, id := range []string{"done", "unknown", "denied", "runs", "undoing", "last"} {
		r, rc := m.add(t, id, "r")
		m.Admit(0, rc, r)
		r.Undo.Busy = id == "undoing"
		switch id {
		case "unknown":
			r.end(runtime.Outcome{Kind: runtime.Unknown})
		case "denied":
			r.end(runtime.Outcome{Kind: runtime.Denied})
		case "done", "undoing", "last":
			r.end(runtime.Outcome{Kind: runtime.Completed})
		}
	}
	assert.False(t, m.IsShut())
	assert.Nil(t, m.Refuse(&callRecord{ID: "c"}, nil))
	assert.True(t, m.Undos.Enter())
	m.Undos.Leave()
	m.Shut()
	assert.True(t, m.IsShut())
	assert.False(t, m.Undos.Enter())
	assert.Equal(t, runtime.ReasonRunFinished, m.Refuse(&callRecord{ID: "c"}, nil).Reason)
	assert.Equal(t, runtime.ReasonRunFinished, m.Refuse(&callRecord{ID: "c"}, &runtime.Outcome{Reason: runtime.ReasonAtCapacity}).Reason)
	assert.ErrorContains(t, m.StartRun(0, "q"), "the session has ended")
	assert.NoError(t, m.AwaitWork(t.Context(), new(sched.Scheduler), nil))

	require.True(t, m.Forget())
	assert.False(t, m.Forget())
	var left, ofRun []string
	for r := range m.calls.all() {
		left = append(left, r.ID)
	}
	for r := range m.byRun["r"].all() {
		ofRun = append(ofRun, r.ID)
	}
	assert.ElementsMatch(t, kept, left)
	assert.ElementsMatch(t, kept, ofRun)
	assert.Nil(t, m.Find("done"))
	assert.Empty(t, m.Take(), "the rules have forgotten it too")
	assert.Equal(t, rules.RunClosed, m.Rules().RunState("r"))

	m = sessionMemory(t, true, nil)
	m.Restore(&history.Session{State: m.rules, Over: true})
	assert.True(t, m.IsShut())
	assert.False(t, m.Forget())
}
