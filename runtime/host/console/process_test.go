package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestAProcessThatRunsIsShown: the page of a call has the process that runs for it, with what its last
// heartbeat told and until when it may run; afterwards what it used.
// SEMANTICS 6.13.4
func TestAProcessThatRunsIsShown(t *testing.T) {
	var runner *runtimetest.FakeRunner
	command := withCommand(t, "p1", argvOf())
	r := startWith(t, func(c *host.Config) {
		command(c)
		runner = c.Runner.(*runtimetest.FakeRunner)
		runner.Script = func(*process.Job) runtimetest.Act {
			return runtimetest.Act{
				Hang: true, Usage: runtime.ProcessUsage{User: 3 * time.Second, PeakMemory: 999, ReadBytes: 17},
				Beats: []runtime.ProcessUsage{{User: time.Second, System: time.Second, Memory: 512, PeakMemory: 777, Processes: 3}},
			}
		}
	})
	alice, eve := r.as("alice"), r.as("eve", "audit")
	id := r.ask("git", "ada", "t")
	alice.answer(id, "decision", "approve")
	q, _ := r.Executor.Request(id)
	for running := r.Executor.Stats().Processes; len(running) == 0 || running[0].Seen.IsZero(); running = r.Executor.Stats().Processes {
		time.Sleep(time.Millisecond) // the call is on its way
	}
	page := "/calls/s/" + q.CallID
	text := eve.get(page).text
	assert.Regexp(t, `<li>Process 1 of attempt 1 in the tier <code>sandbox</code>: <code>[^<]*/tool</code>, runs; CPU 2.0 s; memory 512 bytes, 777 at most; 3 tasks; seen [^;]*\. `+
		`Started <time datetime="20[^"]*Z">[^<]*</time>\. To end by <time datetime="20[^"]*Z">[^<]*</time>\.`, text)
	assert.NotContains(t, text, secret)

	require.NoError(t, r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Cancel(t.Context(), q.CallID, runtime.ProgramActor("alice"), "enough"))
	require.Equal(t, runtime.Cancelled, r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), q.CallID).Kind)
	for text = eve.get(page).text; strings.Contains(text, "no end is recorded") || strings.Contains(text, ", runs; "); text = eve.get(page).text {
		time.Sleep(10 * time.Millisecond) // its end comes in a late entry
	}
	assert.Regexp(t, `Process 1 of attempt 1 .*, ended by SIGTERM, ended; CPU 3.0 s; memory 999 bytes; read 17 bytes; wrote 0 bytes; `, text)
}
