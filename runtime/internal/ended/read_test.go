package ended_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/ended"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) { battery.Main(m) }

const mac = "00112233445566778899aabbccddeeff"

// recorded returns a journal with one call that has ended, and its reference.
func recorded(t *testing.T) (*journal.Memory, ended.Call) {
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
	return j, ended.Call{ID: "c", Tool: "t", Run: "r", Opened: 1, Outcome: 2, Kind: runtime.Completed, Input: ended.DigestOf(mac)}
}

// TestReadRefusesOtherEntries: a call is read if its entries are those that the reference names, and say what it says.
// SEMANTICS 1.4.7
func TestReadRefusesOtherEntries(t *testing.T) {
	j, c := recorded(t)
	of, err := ended.Read(t.Context(), j, "s", &c)
	require.NoError(t, err)
	assert.Equal(t, `"ok"`, string(of.Outcome.Output))
	for name, change := range map[string]func(*ended.Call){
		"first entry": func(c *ended.Call) { c.Opened++ },
		"outcome":     func(c *ended.Call) { c.Outcome-- },
		"kind":        func(c *ended.Call) { c.Kind = runtime.Failed },
		"tool":        func(c *ended.Call) { c.Tool = "u" },
		"run":         func(c *ended.Call) { c.Run = "q" },
		"input":       func(c *ended.Call) { c.Input[15]++ },
		"call":        func(c *ended.Call) { c.ID = "d" },
	} {
		other := c
		change(&other)
		of, err := ended.Read(t.Context(), j, "s", &other)
		assert.ErrorContains(t, err, "of session", name)
		assert.Nil(t, of, name)
	}
}
