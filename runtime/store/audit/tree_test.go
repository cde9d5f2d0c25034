package audit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestHashesThatCannotBeStoredDoNotPileUp also holds that a log goes on as before
// when checkpoints can be stored again.
func TestHashesThatCannotBeStoredDoNotPileUp(t *testing.T) {
	l := &Log{closed: true} // so that it starts nothing
	one := make([]tlog.Hash, 1)
	for range maxPending + 10 {
		l.add(one, false)
	}
	assert.Empty(t, l.pending)
	l.settle(maxPending)
	assert.True(t, l.short, "ten are missing")
	l.settle(maxPending + 10)
	l.add(one, false)
	assert.Len(t, l.pending, 1)
	l.settle(maxPending + 11)
	assert.Empty(t, l.pending)
}

// TestIndexIsComparedFast holds that what Encode writes is judged without being
// decoded, and that the short way never says more than the long one.
func TestIndexIsComparedFast(t *testing.T) {
	for _, r := range []journal.Record{
		{Kind: "a"},
		{Kind: "a", Session: "s", Mark: journal.MarkEnded},
		{Kind: "a", Session: "s", Run: "r", Agent: "g", Principal: "p", Call: "c", Tool: "t", Mark: journal.MarkOpened, ToolVersion: "1"},
		{Kind: "a", Call: "c", ToolVersion: "1"},
		{Kind: "a", Session: "s", Run: "r", Turn: 12, RequestID: "q", Agent: "g", Principal: "p", Call: "c", Tool: "t", Mark: journal.MarkOpened},
	} {
		e, err := journal.NewEntry(1, &r, nil)
		require.NoError(t, err)
		require.True(t, agrees(&e), "%s", e.Leaf)
		require.Empty(t, checkIndex(&e, true))
	}
}

func TestIndexThatNeedsALook(t *testing.T) {
	r := &journal.Record{Kind: "a", Session: `s","run":"r`, Principal: `"`, Call: "é<", Tool: `\u0041`}
	e, err := journal.NewEntry(1, r, nil)
	require.NoError(t, err)
	require.False(t, agrees(&e))
	require.Empty(t, checkIndex(&e, false))
	e.Leaf = []byte(`{"event":"a","at":"0001-01-01T00:00:00Z","session":"s","run":"r"}`)
	e.Session, e.Run, e.Call, e.Tool = `s","run":"r`, "", "", ""
	require.NotEmpty(t, checkIndex(&e, false), "a quote in the index is no way out of a string")
	e.Session, e.Run = "s", "r"
	e.Leaf = []byte(`{"event":"a","at":"0001-01-01T00:00:00Z","session":"s","run":"r","turn":1.5,"call":"c"}`)
	require.NotEmpty(t, checkIndex(&e, false), "a call that the index does not know behind what is no count")
	e.Leaf = nil
	require.NotEmpty(t, checkIndex(&e, false))
}

// FuzzIndex holds that an index that the short way takes is what the leaf says.
func FuzzIndex(f *testing.F) {
	f.Add("a", "s", "r", "c", "t", "p", byte(1), "s", "r", "c", "t", byte(1))
	f.Add("a", `s","run":"r`, "", "c", "t", "p", byte(1), "s", "r", "c", "t", byte(1))
	f.Add("a", "s", "", "", "", "", byte(12), "s", "", "", "", byte(1))
	f.Fuzz(func(t *testing.T, kind, session, run, call, tool, principal string, mark byte, session2, run2, call2, tool2 string, mark2 byte) {
		r := &journal.Record{Kind: kind, Session: session, Run: run, Call: call, Tool: tool, Principal: principal, Mark: journal.Mark(mark), Turn: int(mark2), RequestID: principal}
		e, err := journal.NewEntry(1, r, nil)
		if err != nil {
			return // no record
		}
		e.Session, e.Run, e.Call, e.Tool, e.Mark = session2, run2, call2, tool2, journal.Mark(mark2)
		said, err := journal.Decode(e.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		if agrees(&e) && e.Disagreement(said) != "" {
			t.Fatalf("%q is not what %s says", e.Disagreement(said), e.Leaf)
		}
	})
}
