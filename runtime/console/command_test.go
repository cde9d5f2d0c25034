package console

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/process"
)

// TestShownCommand: what a call would run is shown with each argument in quotes, and a script line by
// line; nothing of it is obeyed.
func TestShownCommand(t *testing.T) {
	assert.Nil(t, commandOf(nil))
	c := commandOf(&process.Invocation{Program: "git", Argv: []string{"git", "log", "a b", "\"<b>\u202e"}, Dir: "sub", Network: process.Loopback})
	assert.Equal(t, `"git" "log" "a b" "\"<b>\u{202E}"`, c.Arguments)
	assert.Equal(t, []string{"", "sub", "sandbox", "loopback"}, []string{c.Script, c.Dir, c.Tier, c.Network})
	var out bytes.Buffer
	require.NoError(t, templates.ExecuteTemplate(&out, "command", c))
	assert.Contains(t, out.String(), "&#34;a b&#34; &#34;\\&#34;&lt;b&gt;\\u{202E}&#34;")
	c = commandOf(&process.Invocation{Program: "sh", Argv: []string{"sh", "-c", "--", "ls\nid"}, Script: "ls\nid\u202e", Tier: process.ProcessTier})
	assert.Equal(t, []string{"", "ls\nid\\u{202E}", "process", "none"}, []string{c.Arguments, c.Script, c.Tier, c.Network})
	assert.Equal(t, 10_000, commandOf(&process.Invocation{Script: string(bytes.Repeat([]byte("x"), 30_000))}).More)
}

// TestShownProcesses: the start of a process, its end and a late one are one process.
func TestShownProcesses(t *testing.T) {
	id := func(pid int) process.ProcessID { return process.ProcessID{PID: pid, Start: "9", Boot: "b"} }
	c := &recordedCall{}
	for i, r := range []journal.Record{
		{Kind: journal.KindProcessStarted, Process: &journal.Process{ID: id(7), Program: "/bin/\u202ego", SHA256: "ab", Argv: "cd"}},
		{Kind: journal.KindProcessStarted, Process: &journal.Process{ID: id(8), Program: "/bin/go"}},
		{Kind: "tool.timed_out", Mark: journal.MarkEnded},
		{Kind: "tool.late_result", Process: &journal.Process{ID: id(7), Exit: &process.Summary{
			Code: -1, Signal: "SIGKILL", Cause: process.LimitReached, Limit: process.Memory, Usage: process.Usage{User: time.Second, PeakMemory: 5},
			Stdout: process.StreamEnd{Size: 3}, Weaker: []process.LimitLevel{{Name: process.CPU, Level: process.Watched}},
		}}},
	} {
		c.add(uint64(i), &r)
	}
	assert.Equal(t, []shownProcess{
		{PID: 7, Program: `/bin/\u{202E}go`, Hash: "ab", Argv: "cd", Tier: "sandbox", End: "ended by SIGKILL, limit_reached (memory)",
			Facts: []string{"CPU 1.0 s", "memory 5 bytes", "stdout 3 bytes", "stderr 0 bytes", "cpu watched"}},
		{PID: 8, Program: "/bin/go", Tier: "sandbox", End: "no end is recorded"},
	}, processesOf(c.processes))
}
