package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestNewEntryAgreesWithItsRecord(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	r := &journal.Record{Kind: "tool.started", At: at, Session: "s", Run: "r", Call: "c", Tool: "t", Mark: journal.MarkStarted}
	e, err := journal.NewEntry(7, r, []byte(`[]`))
	require.NoError(t, err)
	assert.EqualValues(t, 7, e.Seq)
	assert.Equal(t, time.UTC, e.At.Location())
	said, err := journal.Decode(e.Leaf)
	require.NoError(t, err)
	assert.Empty(t, e.Disagreement(said))
	for name, change := range map[string]func(*journal.Entry){
		"at": func(e *journal.Entry) { e.At = e.At.Add(1) }, "kind": func(e *journal.Entry) { e.Kind += "x" },
		"session": func(e *journal.Entry) { e.Session = "" }, "run": func(e *journal.Entry) { e.Run += "x" },
		"call": func(e *journal.Entry) { e.Call += "x" }, "tool": func(e *journal.Entry) { e.Tool += "x" },
		"mark": func(e *journal.Entry) { e.Mark++ },
	} {
		e := e
		change(&e)
		assert.Equal(t, name, e.Disagreement(said))
	}
}
