package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

const mac = "00112233445566778899aabbccddeeff"

// recorded returns a journal with one call that has ended, and its reference.
func recorded(t *testing.T) (*journal.Memory, endedCall) {
	t.Helper()
	out, err := history.EncodeOutcome(&runtime.Outcome{Kind: runtime.Completed})
	require.NoError(t, err)
	j := new(journal.Memory)
	for i, r := range []journal.Record{
		{Kind: runtime.EventInvoked.String(), Mark: journal.MarkOpened, To: "DECLARED", InputMAC: mac},
		{Kind: runtime.EventCompleted.String(), Mark: journal.MarkEnded, To: "COMPLETED", Outcome: out, Output: &journal.Payload{Bytes: 4, Value: []byte(`"ok"`)}},
	} {
		r.Session, r.Run, r.Call, r.Tool, r.At = "s", "r", "c", "t", time.Unix(1, 0).UTC()
		e, err := journal.NewEntry(uint64(i+1), &r, nil)
		require.NoError(t, err)
		require.NoError(t, j.Append(t.Context(), []journal.Entry{e}))
	}
	return j, endedCall{ID: "c", Tool: "t", Run: "r", Opened: 1, Outcome: 2, Kind: runtime.Completed, Input: callDigestOf(mac)}
}

// TestReadRefusesOtherEntries: a call is read if its entries are those that the reference names, and say what it says.
// SEMANTICS 1.4.7
func TestReadRefusesOtherEntries(t *testing.T) {
	j, c := recorded(t)
	of, err := readEnded(t.Context(), j, "s", &c)
	require.NoError(t, err)
	assert.Equal(t, `"ok"`, string(of.Outcome.Output))
	for name, change := range map[string]func(*endedCall){
		"first entry": func(c *endedCall) { c.Opened++ },
		"outcome":     func(c *endedCall) { c.Outcome-- },
		"kind":        func(c *endedCall) { c.Kind = runtime.Failed },
		"tool":        func(c *endedCall) { c.Tool = "u" },
		"run":         func(c *endedCall) { c.Run = "q" },
		"input":       func(c *endedCall) { c.Input[15]++ },
		"call":        func(c *endedCall) { c.ID = "d" },
	} {
		other := c
		change(&other)
		of, err := readEnded(t.Context(), j, "s", &other)
		assert.ErrorContains(t, err, "of session", name)
		assert.Nil(t, of, name)
	}
}
