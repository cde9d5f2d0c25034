package stream_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

const commandTool = `
ambit: v1
package: samples
tools:
  make:
    version: 1.0.0
    description: Make.
    effect: read
    input: {type: object}
    command: {run: [tool], env: {PATH: $TOOLS}}
`

// commands adds a tool whose processes do what an act says.
func commands(t *testing.T, act runtimetest.Act) func(*host.Config) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("a program"), 0o700)) //nolint:gosec // a program
	t.Setenv("TOOLS", dir)
	file, err := dsl.Parse("commands.yaml", []byte(commandTool))
	require.NoError(t, err)
	list, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	runner := &runtimetest.FakeRunner{Script: func(*process.Job) runtimetest.Act { return act }}
	return func(c *host.Config) { c.Tools, c.Runner = append(c.Tools, list...), runner }
}

// TestKeptOutput: an auditor who follows the call of a command that runs first gets what it has written so far, and
// then the rest. The streams of all calls, and who may not audit, get nothing of before.
// SEMANTICS 2.5.7
func TestKeptOutput(t *testing.T) {
	r := start(t, commands(t, runtimetest.Act{Hang: true, Out: strings.Repeat("x", 20<<10), Writes: []runtimetest.Write{{Text: "more"}}}))
	_, auditor := r.token("eve", "audit")
	_, approver := r.token("alice")
	first := r.events("", auditor)
	run, err := r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	ended := make(chan runtime.Outcome, 1)
	go func() {
		ended <- run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c", Tool: "make", Input: json.RawMessage(`{}`)})
	}()
	for end := int64(0); end < 20<<10+5; { // the first viewer has all of it
		e, ok := first.next()
		require.True(t, ok)
		end = max(end, e.Data.End)
	}
	later, all, other := r.events("?session=s&call=c", auditor), r.events("?session=s", auditor), r.events("?session=s&call=c", approver)
	socket := r.socket(auditor)
	socket.send(`{"type":"subscribe","id":"1","session":"s","call":"c"}`)
	for kept := 0; kept < 3; { // some of it may come before the reply
		if e := socket.next(); e.Data.Kept > 0 {
			kept++
			assert.Equal(t, kept, e.Data.Kept)
		}
	}
	text := ""
	for i := 1; len(text) < 20<<10+5; i++ {
		e, ok := later.next()
		require.True(t, ok)
		if e.Type == "stream.opened" {
			i--
			continue
		}
		assert.Equal(t, []any{"tool.output", "stdout", i, int64(len(text))}, []any{e.Type, e.Data.Stream, e.Data.Kept, e.Data.Offset})
		assert.True(t, strings.HasSuffix(e.ID, "."+string(rune('0'+i))), e.ID)
		text += e.Data.Text
	}
	require.NoError(t, r.Executor.Cancel(t.Context(), "s", "c", runtime.ProgramActor("ops"), ""))
	assert.Equal(t, runtime.Cancelled, (<-ended).Kind)
	for _, e := range all.until("tool.aborted") {
		assert.Zero(t, e.Data.Kept)
	}
	for _, e := range socket.until("tool.aborted") {
		assert.Zero(t, e.Data.Kept)
	}
	require.NoError(t, r.Host.Close(t.Context()))
	for e, open := other.next(); open; e, open = other.next() {
		assert.Nil(t, e.Data.After, "an approver gets no live output")
	}
}
