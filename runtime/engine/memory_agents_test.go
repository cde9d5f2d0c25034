package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMadeAgentsDoNotRepeat: an id of a sub-agent that is made is that of no other sub-agent of the same
// agent in the run, over all parts of the run, and over restarts.
// SEMANTICS 1.4.6
func TestMadeAgentsDoNotRepeat(t *testing.T) {
	m := sessionMemory(t, false, nil)
	x := m.Calls("r")
	assert.Equal(t, "agent-1", x.Child("", ""))
	assert.Equal(t, "helper", x.Child("", "helper"))
	assert.Equal(t, "helper/agent-1", x.Child("helper", ""))
	assert.Equal(t, "helper/agent-2", m.Calls("r").Child("helper", ""))
	assert.Equal(t, "agent-1/agent-1", x.Child("agent-1", ""))
	assert.Equal(t, "agent-3", x.Child("", "agent-3"))
	assert.Equal(t, "agent-4", x.Child("", ""))
	assert.Equal(t, "agent-1", m.Calls("q").Child("", ""), "another run")

	x = sessionMemory(t, false, nil).Calls("r")
	for _, agent := range []string{"", "agent-5/helper/agent-2", "agent-3/agent-9", "helper"} {
		x.Restore(4, agent)
	}
	x.Restore(2, "")
	assert.Equal(t, 4, x.Turns)
	assert.Equal(t, "agent-6", x.Child("", ""))
	assert.Equal(t, "agent-3/agent-10", x.Child("agent-3", ""))
	assert.Equal(t, "agent-5/helper/agent-3", x.Child("agent-5/helper", ""))
}
