package engine_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// categoryTools are a tool that may be repeated and one that may not, with an exit code for each category.
const categoryTools = `
ambit: v1
package: samples
types:
  Nothing: {type: object}
  Number: {type: object, required: [n], properties: {n: {type: integer, description: A number.}}}
tools:
  again:
    version: 1.0.0
    description: Make.
    effect: write
    input: {$ref: "#/types/Nothing"}
    output: {$ref: "#/types/Number"}
    command:
      run: [tool]
      env: {PATH: $TOOLS}
      output: json
      exits:
        10: ok
        11: timeout
        12: permission_denied
        13: command_not_found
        14: resource_exhausted
        15: process_killed
        16: system_error
        17: {category: resource_exhausted, retryable: false}
    idempotent: true
    retry: {max: 1, initial: 1s, cap: 1s, on_timeout: true}
    deadline: 20s
  once:
    version: 1.0.0
    description: Make.
    effect: write
    input: {$ref: "#/types/Nothing"}
    output: {$ref: "#/types/Number"}
    command: {run: [tool], env: {PATH: $TOOLS}, output: json, exits: {11: timeout, 14: resource_exhausted}}
    limits: {output: 1KiB}
    deadline: 20s
`

// endsOfProcesses are the rows of the table of docs/commands.md.
var endsOfProcesses = map[string]runtimetest.Act{
	"exits with 0":    {Out: `{"n":1}`},
	"exits with `ok`": {Out: `{"n":1}`, Code: 10},
	"exits with a code that `exits` does not list":                           {Code: 9},
	"exits with `timeout`":                                                   {Code: 11},
	"exits with `permission_denied`":                                         {Code: 12},
	"exits with `command_not_found`":                                         {Code: 13},
	"exits with `resource_exhausted`":                                        {Code: 14},
	"exits with `process_killed`":                                            {Code: 15},
	"exits with `system_error`":                                              {Code: 16},
	"exits with `{category: resource_exhausted, retryable: false}`":          {Code: 17},
	"exceeds a limit":                                                        {Limit: runtime.LimitMemory},
	"is ended by a signal":                                                   {Signal: "SIGSEGV"},
	"is in a box that says nothing for a minute":                             {Stale: true},
	"is in a box whose watcher is killed":                                    {Lost: true},
	"runs at its deadline":                                                   {Hang: true},
	"is cancelled":                                                           {Hang: true},
	"writes JSON that does not parse or fit":                                 {Out: `{"n":"1"}`},
	"writes more JSON than `limits.output`":                                  {Out: `{"n":` + strings.Repeat("1", 2<<20) + `}`},
	"does not start: a folder is missing, the disk or the processes run out": {Fail: fmt.Errorf("box: %w", process.ErrResources)},
	"does not start for another reason":                                      {Fail: errors.New("a path")},
	"does not start: its program changed":                                    {Fail: process.ErrProgramChanged},
	"does not start: the host has no room for its limits":                    {Fail: &process.LackError{What: runtime.LimitMemory}},
}

// TestTableOfEnds holds the table of docs/commands.md to what the engine makes of each end of a process:
// the outcome, its reason and code, whether the call is tried again, and what the message and the journal
// say of the exit.
// SEMANTICS 6.1.9
func TestTableOfEnds(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "<!-- ends -->\n")
	table, _, _ = strings.Cut(table, "<!-- /ends -->")
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	seen := map[string]bool{}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		require.Len(t, cells, 5, row)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name, want := cells[0], strings.Join(cells[1:4], " ")
		a, known := endsOfProcesses[name]
		require.True(t, known, "the test has no process that %q", name)
		seen[name] = true
		for tool, attempts := range map[string]int{"again": 1, "once": 1} {
			if tool == "again" && cells[4] == "yes" {
				attempts = 2
			}
			if a.Code > 11 && a.Code != 14 && tool == "once" || a.Code == 10 && tool == "once" {
				continue // its table of exits is shorter
			}
			t.Run(name+"/"+tool, func(t *testing.T) {
				runs := 0
				w := prepareWorkshopOf(t, categoryTools, func(*process.Job) runtimetest.Act { runs++; return a })
				synctest.Test(t, func(t *testing.T) {
					w.open(t, runtime.PolicyFunc(allowAll))
					out := w.endOf(t, tool, name == "is cancelled")
					reason := ""
					if out.Kind != runtime.Completed {
						reason = "`" + out.Reason.String() + "`"
					}
					code := ""
					if out.Detail.Code != "" {
						code = "`" + out.Detail.Code + "`"
					}
					assert.Equal(t, want, strings.Join([]string{out.Kind.String(), reason, code}, " "), out.Message)
					var lack *process.LackError
					if !errors.As(a.Fail, &lack) { // for that it waits
						assert.Equal(t, attempts, runs)
					}
					w.says(t, a, out)
					require.NoError(t, w.exec.Shutdown(t.Context()))
				})
			})
		}
	}
	for name := range endsOfProcesses {
		assert.True(t, seen[name], "docs/commands.md has no row of a process that %q", name)
	}
}

// endOf makes a call and returns its outcome.
func (w *workshop) endOf(t *testing.T, tool string, cancel bool) runtime.Outcome {
	t.Helper()
	run := w.run()
	_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf("c", tool, `{}`))
	require.NoError(t, err)
	synctest.Wait()
	if cancel {
		time.Sleep(time.Second)
		require.NoError(t, w.exec.Cancel(t.Context(), "s", "c", runtime.ProgramActor("alice"), ""))
	}
	out := w.exec.Await(t.Context(), "s", "c")
	require.NoError(t, run.Close(t.Context()))
	return out
}

// says checks that the message names the exit code or the signal of a failure, and that the journal has both.
func (w *workshop) says(t *testing.T, a runtimetest.Act, out runtime.Outcome) {
	t.Helper()
	if a.Fail != nil {
		return
	}
	_, ended := w.processes(t, "c")
	require.NotEmpty(t, ended)
	exit := ended[len(ended)-1].Process.Exit
	switch {
	case a.Hang:
		assert.Equal(t, process.Ended, exit.Cause)
	case a.Signal != "":
		assert.Equal(t, a.Signal, exit.Signal)
		assert.Contains(t, out.Message, a.Signal)
	case a.Code > 10:
		assert.Contains(t, out.Message, fmt.Sprintf("exited with code %d (%s)", a.Code, out.Detail.Code))
	}
	if a.Code != 0 {
		assert.Equal(t, a.Code, exit.Code)
	}
}
