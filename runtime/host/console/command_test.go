package console

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestShownCommand: what a call would run is shown with each argument in quotes on a line of its own, and
// a script line by line; nothing of it is obeyed.
func TestShownCommand(t *testing.T) {
	assert.Nil(t, commandOf(nil))
	c := commandOf(&runtime.Invocation{Program: "git", Argv: []string{"git", "log", "a b\n\"c\"", "\"<b>\u202e"}, Dir: "sub", Network: runtime.NetworkLoopback})
	assert.Equal(t, []shownArgument{{Text: `"git"`}, {Text: `"log"`}, {Text: `"a b\n\"c\""`}, {Text: "\"\\\"<b>\u202e\""}}, c.Arguments)
	assert.Equal(t, `The program "git", with 3 arguments, in the folder "sub", in the sandbox, with the network of this call alone.`, c.Sentence)
	assert.Empty(t, c.Script)
	var out bytes.Buffer
	require.NoError(t, templates.ExecuteTemplate(&out, "command", c))
	assert.Equal(t, 4, strings.Count(out.String(), "<li>"))
	assert.Contains(t, out.String(), "<li><code>&#34;\\&#34;&lt;b&gt;\u202e&#34;</code></li>") // render escapes it

	c = commandOf(&runtime.Invocation{Program: "sh", Argv: []string{"sh", "-c", "--", "ls\nid"}, Script: "ls\nid\u202e", Tier: runtime.TierProcess})
	assert.Equal(t, "ls\nid\u202e", c.Script)
	assert.Empty(t, c.Arguments)
	assert.Equal(t, `The shell "sh", with the script below, in its folder, without a sandbox.`, c.Sentence)
	assert.Equal(t, 10_000, commandOf(&runtime.Invocation{Script: string(bytes.Repeat([]byte("x"), 30_000))}).More)
}

// TestManyArguments: a page shows so many arguments, and says how much it leaves out.
func TestManyArguments(t *testing.T) {
	c := commandOf(&runtime.Invocation{Program: "git", Argv: slices.Repeat([]string{"git"}, 250)})
	assert.Len(t, c.Arguments, 200)
	assert.Equal(t, 50, c.MoreArguments)
	c = commandOf(&runtime.Invocation{Program: "git", Argv: slices.Repeat([]string{strings.Repeat("x", 3_000)}, 20)})
	assert.Len(t, c.Arguments, 10)
	assert.Equal(t, []int{10, 1_002}, []int{c.MoreArguments, c.Arguments[0].More})
	assert.Equal(t, `The program "true", with no argument, in its folder, in the sandbox, without network.`, sentenceOf(&runtime.Invocation{Program: "true", Argv: []string{"true"}}))
	assert.Contains(t, sentenceOf(&runtime.Invocation{Program: "true", Argv: []string{"true", "x"}}), "with one argument,")
}

// TestShownProcesses: the start of a process, its end and a late one are one process.
func TestShownProcesses(t *testing.T) {
	id := func(pid int) runtime.ProcessID { return runtime.ProcessID{PID: pid, Start: "9", Boot: "b"} }
	c := &recordedCall{}
	for i, r := range []journal.Record{
		{Kind: journal.KindProcessStarted, Process: &journal.Process{ID: id(7), Program: "/bin/\u202ego", SHA256: "ab", Argv: "cd"}},
		{Kind: journal.KindProcessStarted, Process: &journal.Process{ID: id(8), Program: "/bin/go"}},
		{Kind: "tool.timed_out", Mark: journal.MarkEnded},
		{Kind: "tool.late_result", Process: &journal.Process{ID: id(7), Exit: &process.Summary{
			Code: -1, Signal: "SIGKILL", Cause: process.LimitReached, Limit: runtime.LimitMemory, Usage: runtime.ProcessUsage{User: time.Second, PeakMemory: 5},
			Stdout: process.StreamEnd{Size: 3}, Weaker: []process.LimitLevel{{Name: runtime.LimitCPU, Level: runtime.LevelWatched}},
		}}},
	} {
		c.add(uint64(i), &r)
	}
	assert.Equal(t, []shownProcess{
		{PID: 7, Program: `/bin/\u{202E}go`, Hash: "ab", Argv: "cd", Tier: "sandbox", End: "ended by SIGKILL, limit_reached (memory)",
			Facts: []string{"CPU 1.0 s", "memory 5 bytes", "read 0 bytes", "wrote 0 bytes", "stdout 3 bytes", "stderr 0 bytes", "cpu watched"}},
		{PID: 8, Program: "/bin/go", Tier: "sandbox", End: "runs"},
	}, processesOf(c.processes, []runtime.RunningProcess{{ID: id(8)}, {ID: id(7), Seen: time.Unix(1e9, 0)}}))
}
