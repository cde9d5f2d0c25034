package processes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// encoded returns an output as the engine encodes it.
func encoded(t *testing.T, v wire.Value) string {
	t.Helper()
	text, bad := wire.Append(nil, v)
	require.Empty(t, bad)
	return string(text)
}

// TestForms reads what processes wrote in each form.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		tool string
		act  runtimetest.Act
		want string
	}{
		{"text", runtimetest.Act{Out: "a\"b", Err: "e"}, `{"stdout":"a\"b\n","stderr":"e\n","exit_code":0,"truncated":false,"binary":false}`},
		{"text", runtimetest.Act{Code: 1}, `{"stdout":"","stderr":"","exit_code":1,"truncated":false,"binary":false}`},
		{"text", runtimetest.Act{Out: "\xff<"}, `{"stdout":"�<\n","stderr":"","exit_code":0,"truncated":false,"binary":true}`},
		{"lines", runtimetest.Act{Out: "a\nb"}, `{"lines":["a","b"],"dropped":0}`},
		{"lines", runtimetest.Act{}, `{"lines":[],"dropped":0}`},
		{"json", runtimetest.Act{Out: ` {"n": 7} `}, `{"n":7}`},
		{"json_lines", runtimetest.Act{Out: "{\"n\":1}\n\n{\"n\":2}"}, `{"lines":[{"n":1},{"n":2}],"dropped":0}`},
	} {
		res, err := newBench(t, acts(c.act)).run(t, c.tool, "{}")
		require.NoError(t, err, c.act)
		assert.JSONEq(t, c.want, encoded(t, res.Output), c.act)
		assert.Equal(t, runtime.ExitOK, res.Process.Exit.Category)
	}
}

// TestInvalidOutputs: what the declared schema does not take is no output.
func TestInvalidOutputs(t *testing.T) {
	for _, c := range []struct {
		tool, out string
		reason    runtime.Reason
		pointer   string
	}{
		{"json", `{"n":"x"}`, runtime.ReasonInvalidOutput, "/n"},
		{"json", `{"n":1,"m":2}`, runtime.ReasonInvalidOutput, "/m"},
		{"json", `{"n":1,"n":2}`, runtime.ReasonInvalidOutput, "/n"},
		{"json", `{"n":1`, runtime.ReasonInvalidOutput, ""},
		{"json", ``, runtime.ReasonInvalidOutput, ""},
		{"json", `{"n":` + strings.Repeat("1", 200) + `}`, runtime.ReasonOutputTooLarge, ""},
		{"json_lines", "{\"n\":1}\nno", runtime.ReasonInvalidOutput, ""},
		{"json_lines", "{\"n\":1}\n{\"n\":1.5}", runtime.ReasonInvalidOutput, "/lines/1/n"},
	} {
		res, err := newBench(t, acts(runtimetest.Act{Out: c.out})).run(t, c.tool, "{}")
		f := processes.FailureOf(err)
		require.NotNil(t, f, c.out)
		assert.Equal(t, c.reason, f.Reason, c.out)
		assert.Nil(t, res.Output)
		assert.NotNil(t, res.Process, "the process did run")
		assert.Nil(t, errmark.PublicOf(err))
		if c.pointer != "" {
			require.NotEmpty(t, f.Violations)
			assert.Equal(t, c.pointer, f.Violations[0].Pointer)
		}
	}
}

// TestLongOutputsFit: an output of text or lines is never larger than limits.output, whatever escapes
// it needs, and says what it left out.
func TestLongOutputsFit(t *testing.T) {
	const seeds = 300
	r := rand.New(rand.NewPCG(44, 1))
	pieces := []string{"\x01", "\"", "<", "é", "\xff", "a", "bcd", "\n", "\\", "\u2028"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(400) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	var act runtimetest.Act
	b := newBench(t, func(*process.Job) runtimetest.Act { return act })
	for range seeds {
		act = runtimetest.Act{Out: text(), Err: text()}
		for tool, limit := range map[string]int{"text": 400, "lines": 200} {
			res, err := b.run(t, tool, "{}")
			require.NoError(t, err, "%q", act)
			out := encoded(t, res.Output)
			require.LessOrEqual(t, len(out), limit)
			var is struct {
				Lines     []string `json:"lines"`
				Dropped   int      `json:"dropped"`
				Truncated bool     `json:"truncated"`
				Stdout    string   `json:"stdout"`
			}
			require.NoError(t, json.Unmarshal([]byte(out), &is))
			switch rows := strings.Count(act.Out+"\n", "\n"); {
			case tool == "lines" && act.Out != "":
				require.Equal(t, rows, len(is.Lines)+is.Dropped, "%q", act.Out)
			case tool == "text" && len(act.Out)+len(act.Err) > 2*limit:
				require.True(t, is.Truncated)
			}
		}
	}
	act = runtimetest.Act{Out: strings.Repeat("x", 150) + "é\n" + strings.Repeat("y\n", 60) + "end"}
	res, err := b.run(t, "lines", "{}")
	require.NoError(t, err)
	out := encoded(t, res.Output)
	assert.Contains(t, out, `"end"]`)
	assert.Contains(t, out, `["y"`, "a line that the cap cut is left out")
	act = runtimetest.Act{Out: "begin" + strings.Repeat("x", 1000) + "end", Err: "short"}
	res, err = b.run(t, "text", "{}")
	require.NoError(t, err)
	out = encoded(t, res.Output)
	assert.Greater(t, len(out), 300, "what fits is kept")
	for _, want := range []string{"begin", "end\\n", "bytes left out", `"stderr":"short\n"`} {
		assert.Contains(t, out, want)
	}
}

// TestFailures: what an end of a process means for its call.
// SEMANTICS 4.9.7, 6.1.9
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		tool   string
		act    runtimetest.Act
		reason runtime.Reason
		code   runtime.ExitCategory
		killed bool
		again  bool
		text   string
	}{
		{"text", runtimetest.Act{Code: 2}, runtime.ReasonHandlerError, runtime.ExitCommandNotFound, false, false, "tool exited with code 2 (command_not_found)"},
		{"text", runtimetest.Act{Code: 3}, runtime.ReasonResourceExhausted, runtime.ExitResourceExhausted, false, true, "tool exited with code 3 (resource_exhausted)"},
		{"text", runtimetest.Act{Code: 4}, runtime.ReasonDeadline, runtime.ExitTimeout, false, false, "tool exited with code 4 (timeout)"},
		{"text", runtimetest.Act{Code: 5}, runtime.ReasonResourceExhausted, runtime.ExitResourceExhausted, false, false, "tool exited with code 5 (resource_exhausted)"},
		{"text", runtimetest.Act{Code: 9}, runtime.ReasonHandlerError, runtime.ExitSystemError, false, false, "tool exited with code 9 (system_error)"},
		{"text", runtimetest.Act{Signal: "SIGSEGV"}, runtime.ReasonHandlerError, runtime.ExitProcessKilled, true, false, "tool was ended by the signal SIGSEGV"},
		{"lines", runtimetest.Act{Signal: "SIGSEGV"}, runtime.ReasonHandlerError, runtime.ExitProcessKilled, false, false, "tool was ended by the signal SIGSEGV"},
		{"text", runtimetest.Act{Limit: runtime.LimitMemory, Code: 1}, runtime.ReasonResourceExhausted, runtime.ExitResourceExhausted, true, true, "tool was ended because it reached its limit of memory"},
		{"text", runtimetest.Act{Stale: true}, runtime.ReasonHandlerError, runtime.ExitProcessKilled, true, false, "tool was ended because what watched it was"},
		{"text", runtimetest.Act{Lost: true}, runtime.ReasonHandlerError, runtime.ExitProcessKilled, true, false, "tool was ended because what watched it was"},
		{"text", runtimetest.Act{Fail: process.ErrResources}, runtime.ReasonResourceExhausted, runtime.ExitResourceExhausted, false, true, "tool could not be started: the host has not what it needs"},
		{"text", runtimetest.Act{Fail: errors.New("a path")}, runtime.ReasonHandlerError, runtime.ExitSystemError, false, false, "tool could not be started"},
	} {
		c.act.Out = "secret"
		res, err := newBench(t, acts(c.act)).run(t, c.tool, "{}")
		f := processes.FailureOf(err)
		require.NotNil(t, f, c.act)
		assert.Equal(t, c.reason, f.Reason, c.act)
		assert.Equal(t, c.code, f.Category, c.act)
		assert.Equal(t, c.killed, f.Killed, c.act)
		assert.Equal(t, c.again, errmark.IsTransient(err), c.act)
		public := errmark.PublicOf(err)
		require.NotNil(t, public, c.act)
		assert.Equal(t, string(c.code), public.Code)
		assert.Equal(t, c.text, public.Error())
		if c.act.Fail != nil {
			assert.Nil(t, res.Process)
			continue
		}
		assert.Equal(t, c.code, res.Process.Exit.Category)
		assert.Equal(t, "secret\n", string(res.Stdout.Head), "failed commands keep what they wrote")
		assert.EqualValues(t, 7, res.Process.Exit.Stdout.Size)
	}
}

// TestTimeoutsByExit: an exit that means a timeout is tried again where the tool says on_timeout.
func TestTimeoutsByExit(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{Code: 4}))
	b.list[0].Spec.Command.Exits[3].Retryable = true
	_, err := b.run(t, "text", "{}")
	assert.False(t, errmark.IsTransient(err))
	b.list[0].Spec.Retry.OnTimeout = true
	_, err = b.run(t, "text", "{}")
	assert.True(t, errmark.IsTransient(err))
}

// TestRecordedBeforeItRuns: the record of a process has all by which it is found again, and without
// it the program does not run.
// SEMANTICS 6.6.8, 6.13.4
func TestRecordedBeforeItRuns(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{Echo: true, Usage: runtime.ProcessUsage{PeakMemory: 5}}))
	c, a := b.attempt(t, "text", `{"words":["w"],"input":"to read"}`)
	var started *journal.Process
	a.Started = func(_ context.Context, p *journal.Process) error {
		assert.Empty(t, b.runner.Started())
		started = p
		return nil
	}
	res, err := c.Run(t.Context(), a)
	require.NoError(t, err)
	assert.Equal(t, b.dir+"/bin/tool", started.Program)
	assert.Len(t, started.SHA256, 64)
	assert.Equal(t, fmt.Sprintf("%x", process.Digest([]string{"tool", "--words", "w"})), started.Argv)
	assert.Equal(t, a.Due, started.Due)
	assert.Equal(t, 1, started.Attempt)
	assert.NotEmpty(t, started.ID.Mark)
	assert.Nil(t, started.Exit)
	assert.Equal(t, started.ID, res.Process.ID)
	assert.EqualValues(t, 5, res.Process.Exit.Usage.PeakMemory)
	assert.Equal(t, "to read", string(res.Stdout.Head), "the member that stdin names")

	a.Started = func(context.Context, *journal.Process) error { return errors.New("the disk is full") }
	res, err = c.Run(t.Context(), a)
	require.ErrorIs(t, err, process.ErrStarted)
	assert.Nil(t, processes.FailureOf(err))
	assert.Nil(t, res.Process)
	assert.Len(t, b.runner.Started(), 1)
}

// TestEnds: the end of the context ends a process after its grace, and at once one that is hurried.
// SEMANTICS 6.1.8
func TestEnds(t *testing.T) {
	for name, want := range map[string]struct {
		end    func(b *bench, cancel context.CancelCauseFunc)
		signal string
		took   time.Duration
	}{
		"with a grace": {func(_ *bench, cancel context.CancelCauseFunc) { cancel(context.Canceled) }, "SIGKILL", 3 * time.Second},
		"at once": {func(b *bench, cancel context.CancelCauseFunc) {
			b.set.Hurry(processes.Key("s", "c"))
			cancel(context.Canceled)
		}, "SIGKILL", 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, acts(runtimetest.Act{Hang: true, Stubborn: true, Beats: []runtime.ProcessUsage{{Memory: 9}}}))
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				c, a := b.attempt(t, "text", "{}")
				done := make(chan struct{})
				var res processes.Result
				var err error
				go func() {
					defer close(done)
					res, err = c.Run(ctx, a)
				}()
				synctest.Wait()
				assert.Len(t, b.stats().Processes, 1)
				from := time.Now()
				want.end(b, cancel)
				<-done
				assert.Equal(t, want.took, time.Since(from))
				assert.Equal(t, want.signal, res.Process.Exit.Signal)
				f := processes.FailureOf(err)
				require.NotNil(t, f)
				assert.Equal(t, runtime.ReasonDeadline, f.Reason)
				assert.True(t, f.Killed)
				assert.Equal(t, name == "with a grace", errors.Is(err, context.Canceled))
				assert.Empty(t, b.stats().Processes)
				b.set.Hurry(processes.Key("s", "c")) // there is none
				cancel(nil)
			})
		})
	}
}

// TestEndedBeforeItsStart: a process whose context is over does not run.
func TestEndedBeforeItsStart(t *testing.T) {
	b := newBench(t, nil)
	c, a := b.attempt(t, "text", "{}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := c.Run(ctx, a)
	assert.Nil(t, res.Process)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, runtime.ReasonDeadline, processes.FailureOf(err).Reason)
	assert.Empty(t, b.runner.Started())
}

// TestRoom: a process waits until the host has what its limits need, or until its time is over.
// SEMANTICS 6.3.10
func TestRoom(t *testing.T) {
	lacks := 3
	b := newBench(t, func(*process.Job) runtimetest.Act {
		if lacks--; lacks >= 0 {
			return runtimetest.Act{Fail: fmt.Errorf("run: %w", &process.LackError{What: runtime.LimitMemory})}
		}
		return runtimetest.Act{Out: "ran"}
	})
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		res, err := b.run(t, "text", "{}")
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, time.Since(from))
		assert.Contains(t, encoded(t, res.Output), "ran")

		lacks = 1000
		c, a := b.attempt(t, "text", "{}")
		for _, over := range []time.Duration{9500 * time.Millisecond, 10 * time.Second} { // the latter with the end of a wait
			ctx, cancel := context.WithTimeout(t.Context(), over)
			_, err = c.Run(ctx, a)
			cancel()
			var lack *process.LackError
			require.ErrorAs(t, err, &lack)
			assert.Nil(t, processes.FailureOf(err))
			assert.False(t, errmark.IsTransient(err))
		}
		a.Due = time.Now().Add(2500 * time.Millisecond)
		from = time.Now()
		_, err = c.Run(t.Context(), a)
		require.ErrorAs(t, err, new(*process.LackError))
		assert.Equal(t, 2*time.Second, time.Since(from), "it is not asked again when the attempt would be over")
	})
}

// TestChangedWhileItStarts: a program that was replaced after the check does not run.
func TestChangedWhileItStarts(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{Fail: fmt.Errorf("run: %w", process.ErrProgramChanged)}))
	_, err := b.run(t, "text", "{}")
	require.ErrorIs(t, err, process.ErrProgramChanged)
	assert.Nil(t, processes.FailureOf(err))
}

// TestQueue: all processes share one queue, and its length changes at run time.
func TestQueue(t *testing.T) {
	b := newBench(t, nil)
	slots := b.set.Slots(0)
	assert.Same(t, slots, b.set.Slots(1))
	assert.Nil(t, b.set.Slots(99), "the tool has a handler")
	for range processes.DefaultProcesses {
		require.Nil(t, slots.Acquire())
	}
	first, second := slots.Acquire(), slots.Acquire()
	b.set.SetLimit(processes.DefaultProcesses + 1)
	assert.True(t, first.Fired())
	assert.False(t, second.Fired())
}

// TestKill: recovery ends what an earlier executor recorded, and waits until it is gone.
func TestKill(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{Hang: true}))
	c, a := b.attempt(t, "text", "{}")
	ids := make(chan runtime.ProcessID, 1)
	a.Started = func(_ context.Context, p *journal.Process) error {
		ids <- p.ID
		return nil
	}
	done := make(chan error)
	go func() {
		_, err := c.Run(t.Context(), a)
		done <- err
	}()
	id := <-ids
	require.NoError(t, b.set.Kill(t.Context(), id))
	assert.Equal(t, runtime.ExitProcessKilled, processes.FailureOf(<-done).Category)
	require.NoError(t, b.set.Kill(t.Context(), id))
}

// TestRealProcesses runs scripts of a shell by the runner of this host.
func TestRealProcesses(t *testing.T) {
	runner, err := isolate.New(isolate.Options{Folder: t.TempDir()})
	require.NoError(t, err)
	if _, err := runner.Enforces(&process.Spec{Tier: runtime.TierProcess}); err != nil {
		t.Skip("no tier process here: ", err)
	}
	b := &bench{host: newHost(t), list: declared(t, "script")}
	b.set, err = processes.Open(b.list, new(sched.Scheduler), b.config(runner))
	require.NoError(t, err)
	script := func(text string) string {
		in, err := json.Marshal(map[string]string{"script": text})
		require.NoError(t, err)
		return string(in)
	}
	res, err := b.run(t, "script", script(`echo "out $#"; pwd; echo err >&2`))
	require.NoError(t, err)
	assert.JSONEq(t, fmt.Sprintf(`{"stdout":"out 0\n%s/workspace\n","stderr":"err\n","exit_code":0,"truncated":false,"binary":false}`, b.dir), encoded(t, res.Output))
	_, err = b.run(t, "script", script("exit 7"))
	assert.Equal(t, "sh exited with code 7 (system_error)", processes.FailureOf(err).Text)
	_, err = b.run(t, "script", script("kill -9 $$"))
	assert.True(t, processes.FailureOf(err).Killed)
	require.NoError(t, os.RemoveAll(b.dir+"/workspace"))
	_, err = b.run(t, "script", script("true"))
	assert.Equal(t, runtime.ReasonResourceExhausted, processes.FailureOf(err).Reason, "its folder is missing")
}
