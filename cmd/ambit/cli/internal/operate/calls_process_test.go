package operate

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/running"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestProcessesOfACall: the start of a process and its end, which may come in a late entry, are shown as one.
func TestProcessesOfACall(t *testing.T) {
	id := runtime.ProcessID{PID: 42, Start: "100", Boot: "b00t"}
	v := &callView{}
	for i, r := range []*journal.Record{
		{Kind: journal.KindProcessStarted, At: time.Unix(1e9-20, 0), Process: &journal.Process{
			ID: id, Program: "/bin/\u202ego", SHA256: strings.Repeat("a", 64), Argv: strings.Repeat("b", 64), Due: time.Unix(1e9, 0), Attempt: 2,
		}},
		{Kind: "tool.retrying", Attempt: 1},
		{Kind: "tool.timed_out", Mark: journal.MarkEnded},
		{Kind: "tool.late_result", Process: &journal.Process{ID: id, Kept: &runtime.ArtifactRef{SHA256: "cc", Type: "text/plain", Bytes: 9}, Exit: &process.Summary{
			Code: -1, Signal: "SIGKILL", Cause: process.Ended, Category: runtime.ExitTimeout,
			Usage:  runtime.ProcessUsage{User: 1500 * time.Millisecond, PeakMemory: 4096},
			Stdout: process.StreamEnd{Size: 1, Lines: 1, SHA256: strings.Repeat("d", 64), Truncated: true},
			Weaker: []process.LimitLevel{{Name: runtime.LimitMemory, Level: runtime.LevelWatched}},
		}}},
	} {
		v.add(uint64(i), r)
	}
	var out strings.Builder
	v.print(&out)
	assert.Contains(t, out.String(), `attempts   2
process    42, isolation sandbox, attempt 2
  program  /bin/\u{202E}go sha256:aaaaaaaaaaaa
  argv     sha256:bbbbbbbbbbbb
  started  2001-09-09T01:46:20.000Z, tick 100 of boot b00t
  due      2001-09-09T01:46:40.000Z
  exit     by SIGKILL, ended
  used     cpu 1.5s and 0s in the kernel, memory 4096 bytes at most, read 0 and wrote 0 bytes
  stdout   1 byte in 1 line, of which the beginning and the end are kept sha256:dddddddddddd
  stderr   0 bytes in 0 lines
  kept     cc, text/plain, 9 bytes
  limits   memory watched
`)
	out.Reset()
	printProcess(&out, &journal.Process{ID: id}, nil)
	assert.Contains(t, out.String(), "  exit     none is recorded\n")
	assert.NotContains(t, out.String(), "uses")
	printProcess(&out, &journal.Process{ID: id}, &running.Beat{ID: id, Seen: time.Unix(1_000_000_000, 0), Usage: runtime.ProcessUsage{User: time.Second, Memory: 9, PeakMemory: 11, Processes: 2}})
	assert.Contains(t, out.String(), "  uses     cpu 1s and 0s in the kernel, memory 9 bytes and 11 at most, tasks 2, seen 2001-09-09T01:46:40.000Z\n")
}
