package stream_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestLiveOutput: an auditor gets what a handler reports, without the secret and without a position,
// between the entries of its call. Who comes later gets the counts, and is told which event has the output.
// SEMANTICS 2.5.2
func TestLiveOutput(t *testing.T) {
	r := start(t)
	_, auditor := r.token("eve", "audit")
	_, approver := r.token("alice")
	browser, program, other := r.events("", auditor), r.socket(auditor), r.events("", approver)
	require.Empty(t, program.ask(`{"type":"subscribe","id":"1"}`).Problem.Code)
	out := r.call("note", "report half done, ")
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	seen := browser.until("tool.completed")
	text, pieces, started := "", 0, uint64(0)
	for _, e := range seen {
		if e.Type == "tool.started" {
			started = e.Data.Position
		}
		if e.Data.After == nil {
			continue
		}
		pieces++
		assert.Equal(t, "tool.output", e.Type)
		assert.EqualValues(t, len(text), e.Data.Offset)
		assert.EqualValues(t, []int64{1, 2}, []int64{e.Data.Done, e.Data.Total})
		assert.Equal(t, []string{out.CallID, "s", "note"}, []string{e.Data.Call, e.Data.Session, e.Data.Tool})
		assert.GreaterOrEqual(t, *e.Data.After, started)
		assert.NotZero(t, started, "it comes after tool.started")
		assert.Equal(t, strconv.FormatUint(*e.Data.After, 10)+"."+strconv.Itoa(pieces), e.ID)
		text += e.Data.Text
	}
	assert.Equal(t, "half done, (sensitive)", text)
	assert.Equal(t, seen[1:], program.until("tool.completed"), "both get the same")

	later := r.events("?after=0&kind=tool.output&kind=tool.completed", auditor).until("tool.completed")
	var counts []int64
	for _, e := range later[1:] {
		if e.Type == "tool.output" {
			require.NotNil(t, e.Data.Live)
			assert.Equal(t, "tool.completed", e.Data.OutputIn)
			counts = append(counts, e.Data.Live.Bytes)
		}
		assert.Empty(t, e.Data.Text)
	}
	assert.EqualValues(t, len(text), counts[len(counts)-1])

	asked := r.call("send", "report secretly")
	require.Equal(t, runtime.Pending, asked.Kind)
	for _, e := range other.until("approval.requested") {
		assert.Nil(t, e.Data.After, "an approver gets no live output")
	}
}
