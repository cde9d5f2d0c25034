package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// commandTools are tools that run a program of a folder that $TOOLS names.
const commandTools = `
ambit: v1
package: samples
tools:
  make:
    version: 1.0.0
    description: Make.
    effect: write
    input: {type: object, properties: {words: {type: array, items: {type: string, pattern: "^[a-z]", description: A word.}, description: Words.}}}
    command:
      run: [tool, {each: words}]
      env: {PATH: $TOOLS}
      exits: {3: {category: resource_exhausted}, 4: {category: timeout}}
    idempotency: {key: [words], window: 1h}
    idempotent: true
    retry: {max: 1, initial: 1s, cap: 1s}
    deadline: 20s
  once:
    version: 1.0.0
    description: Make, once.
    effect: write
    input: {type: object, properties: {words: {type: array, items: {type: string, pattern: "^[a-z]", description: A word.}, description: Words.}}}
    command: {run: [tool, {each: words}], env: {PATH: $TOOLS}, exits: {4: {category: timeout}}}
    consent: {ask: policy, allow_edit: true}
    idempotency: {key: [words], window: 1h}
    deadline: 20s
  look:
    version: 1.0.0
    description: Look.
    effect: read
    input: {type: object, properties: {at: {type: string, description: What.}}}
    command: {run: [tool], env: {PATH: $TOOLS}, output: lines}
    idempotency: {key: [at], window: 1h}
    deadline: 20s
  pipe:
    version: 1.0.0
    description: Read a key.
    effect: read
    input: {type: object, properties: {key: {type: string, x-sensitive: true, description: A key.}}}
    command: {run: [tool], env: {PATH: $TOOLS}, stdin: key}
  sealed:
    version: 1.0.0
    description: A value that is sensitive.
    effect: read
    input: {type: object}
    output: {type: object, properties: {n: {type: string, x-sensitive: true, description: A secret.}}}
    command: {run: [tool], env: {PATH: $TOOLS}, output: json}
  value:
    version: 1.0.0
    description: One value.
    effect: read
    input: {type: object}
    output: {type: object, required: [n], properties: {n: {type: integer, description: A number.}}}
    command: {run: [tool], env: {PATH: $TOOLS}, output: json}
`

// A workshop is an executor of commandTools, or of other tools with that program.
type workshop struct {
	*rig
	runner  *runtimetest.FakeRunner
	journal journal.Memory
	tools   string // the folder of the program
	text    string // the declaration
	config  engine.ProcessConfig
	only    *engine.Run
}

// act is a process that does a.
func act(a runtimetest.Act) func(*process.Job) runtimetest.Act {
	return func(*process.Job) runtimetest.Act { return a }
}

// newWorkshop returns an executor whose processes do what script says. It is made outside of a bubble.
func newWorkshop(t *testing.T, policy runtime.Policy, script func(*process.Job) runtimetest.Act, opts ...engine.Option) *workshop {
	t.Helper()
	w := prepareWorkshop(t, script)
	w.open(t, policy, opts...)
	return w
}

func prepareWorkshop(t *testing.T, script func(*process.Job) runtimetest.Act) *workshop {
	t.Helper()
	return prepareWorkshopOf(t, commandTools, script)
}

// prepareWorkshopOf prepares an executor of other tools than commandTools.
func prepareWorkshopOf(t *testing.T, text string, script func(*process.Job) runtimetest.Act) *workshop {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &workshop{runner: &runtimetest.FakeRunner{Script: script}, tools: dir, text: text}
	w.write(t, "a program")
	w.config = engine.ProcessConfig{Runner: w.runner, Variable: func(string) (string, bool) { return dir, true }}
	return w
}

// open opens an executor on the journal of w.
func (w *workshop) open(t *testing.T, policy runtime.Policy, opts ...engine.Option) {
	t.Helper()
	opts = append([]engine.Option{engine.WithProcesses(w.config), engine.WithJournal(&w.journal), engine.WithPendingRequests()}, opts...)
	w.rig = newRigWith(t, policy, declaredCommands(t, w.text), opts...)
	w.recover()
}

func declaredCommands(t *testing.T, text string) []*runtime.Tool {
	t.Helper()
	file, err := dsl.Parse("commands.yaml", []byte(text))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	return tools
}

// write writes the program.
func (w *workshop) write(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(w.tools, "tool"), []byte(text), 0o700)) //nolint:gosec // a program
}

// call makes a call without arguments.
func (w *workshop) call(id, tool string) runtime.Outcome {
	if w.only == nil {
		w.only = w.run()
	}
	return w.only.Turn(engine.TurnConfig{}).Execute(context.Background(), callOf(id, tool, `{}`))
}

// processes returns the records of the processes of a call, and that of its end.
func (w *workshop) processes(t *testing.T, call string) (started, ended []*journal.Record) {
	t.Helper()
	for _, r := range records(t, &w.journal) {
		switch {
		case r.Call != call || r.Process == nil:
		case r.Process.Exit == nil:
			started = append(started, r)
		default:
			ended = append(ended, r)
		}
	}
	return started, ended
}

// TestCommandNeedsARunner: an executor of commands does not open without what they need.
func TestCommandNeedsARunner(t *testing.T) {
	reg, err := runtime.NewRegistry(declaredCommands(t, commandTools)...)
	require.NoError(t, err)
	_, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll))
	require.ErrorContains(t, err, `tool "make": it is a command and the executor has no runner of processes`)
	_, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithProcesses(engine.ProcessConfig{
		Runner: new(runtimetest.FakeRunner), Variable: func(string) (string, bool) { return t.TempDir(), true },
	}))
	require.ErrorContains(t, err, "command_not_found")
}

// TestCommands: what ends a process decides the outcome of its call.
// SEMANTICS 3.5.8, 4.9.7, 6.1.9, 6.3.10
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name, tool string
		act        runtimetest.Act
		kind       runtime.OutcomeKind
		reason     runtime.Reason
		code, want string // of the message, or the output
		attempts   int
	}{
		{"text", "make", runtimetest.Act{Out: "a", Err: "b"}, runtime.Completed, 0, "", `{"stdout":"a\n","stderr":"b\n","exit_code":0,"truncated":false,"binary":false}`, 1},
		{"lines", "look", runtimetest.Act{Out: "a\nb"}, runtime.Completed, 0, "", `{"lines":["a","b"],"dropped":0}`, 1},
		{"a value", "value", runtimetest.Act{Out: `{"n": 1}`}, runtime.Completed, 0, "", `{"n":1}`, 1},
		{"no value", "value", runtimetest.Act{Out: `{"n": "1"}`}, runtime.Failed, runtime.ReasonInvalidOutput, "", "the tool returned an invalid output", 1},
		{"system_error", "make", runtimetest.Act{Code: 9}, runtime.Failed, runtime.ReasonHandlerError, "system_error", "tool exited with code 9 (system_error)", 1},
		{"a signal", "make", runtimetest.Act{Signal: "SIGSEGV"}, runtime.Failed, runtime.ReasonHandlerError, "process_killed", "tool was ended by the signal SIGSEGV; it may still have taken effect", 1},
		{"a signal, of a tool that reads", "look", runtimetest.Act{Signal: "SIGSEGV"}, runtime.Failed, runtime.ReasonHandlerError, "process_killed", "tool was ended by the signal SIGSEGV", 1},
		{"resources, twice", "make", runtimetest.Act{Code: 3}, runtime.Failed, runtime.ReasonResourceExhausted, "resource_exhausted", "tool exited with code 3 (resource_exhausted)", 2},
		{"a limit, not to be repeated", "once", runtimetest.Act{Limit: runtime.LimitMemory}, runtime.Failed, runtime.ReasonResourceExhausted, "resource_exhausted", "tool was ended because it reached its limit of memory; it may still have taken effect", 1},
		{"an exit that is a timeout", "once", runtimetest.Act{Code: 4}, runtime.TimedOut, runtime.ReasonDeadline, "timeout", "tool exited with code 4 (timeout); it may still have taken effect", 1},
		{"silence", "once", runtimetest.Act{Stale: true}, runtime.Failed, runtime.ReasonHandlerError, "process_killed", "tool was ended because what watched it was; it may still have taken effect", 1},
		{"a program that was replaced while it started", "make", runtimetest.Act{Fail: process.ErrProgramChanged}, runtime.Denied, runtime.ReasonProgramChanged, "", "the program of \"make\" has changed since the executor started: nothing is run", 1},
		{"no room", "make", runtimetest.Act{Fail: &process.LackError{What: runtime.LimitMemory}}, runtime.Denied, runtime.ReasonAtCapacity, "", "\"make\" is a command, and the host had not enough left for its limit of memory", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := prepareWorkshop(t, act(c.act))
			synctest.Test(t, func(t *testing.T) {
				w.open(t, runtime.PolicyFunc(allowAll))
				out := w.call("c", c.tool)
				synctest.Wait()
				assert.Equal(t, c.kind, out.Kind, out.Message)
				assert.Equal(t, c.reason, out.Reason)
				assert.Equal(t, c.code, out.Detail.Code)
				if c.kind == runtime.Completed {
					assert.JSONEq(t, c.want, string(out.Output))
				} else {
					assert.Equal(t, c.want, out.Message)
				}
				assert.Zero(t, w.exec.Stats().InFlight)
				if c.act.Fail != nil {
					assert.Empty(t, w.runner.Started())
					return
				}
				started, ended := w.processes(t, "c")
				assert.Len(t, started, c.attempts)
				assert.Len(t, ended, c.attempts, "each end is recorded")
				assert.Equal(t, c.act.Stale, contains(w.kinds("c"), "tool.stale"))
				require.NoError(t, w.exec.Shutdown(t.Context()))
			})
		})
	}
}

func contains(list []string, what string) bool {
	for _, s := range list {
		if s == what {
			return true
		}
	}
	return false
}

// TestKilledCommandKeepsItsKey: what was killed may have taken effect, and an equal call is not made
// again (SEMANTICS 4.9.7).
func TestKilledCommandKeepsItsKey(t *testing.T) {
	for _, c := range []struct {
		tool string
		act  runtimetest.Act
		runs int
	}{
		{"once", runtimetest.Act{Signal: "SIGKILL"}, 1},
		{"once", runtimetest.Act{Code: 9}, 2},
		{"look", runtimetest.Act{Signal: "SIGKILL"}, 2},
	} {
		w := newWorkshop(t, runtime.PolicyFunc(allowAll), act(c.act))
		w.call("c1", c.tool)
		again := w.call("c2", c.tool)
		assert.Len(t, w.runner.Started(), c.runs, "%s %v", c.tool, c.act)
		assert.Equal(t, c.runs == 1, again.Kind == runtime.Duplicate, again.Message)
	}
}

// TestOnePlan: policy, consent and process have the same arguments, also after a rewrite and an edit.
func TestOnePlan(t *testing.T) {
	var saw []string
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		saw = in.Command.Argv
		return runtime.Decision{Effect: runtime.EffectAsk}, nil
	})
	var ran []string
	w := newWorkshop(t, policy, func(job *process.Job) runtimetest.Act {
		ran = job.Argv
		return runtimetest.Act{}
	})
	turn := w.turn()
	out := turn.Execute(t.Context(), callOf("c", "once", `{"words":["a"]}`))
	require.Equal(t, runtime.Pending, out.Kind)
	assert.Equal(t, []string{"tool", "a"}, saw)
	r, open := w.exec.Request(out.RequestID)
	require.True(t, open)
	assert.Len(t, r.Program, 64)
	answer := yes("alice")
	res := w.exec.Decide(t.Context(), out.RequestID, answer)
	require.NotNil(t, res.Outcome)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	assert.Equal(t, []string{"tool", "a"}, ran)

	out = turn.Execute(t.Context(), callOf("d", "once", `{"words":["b"]}`))
	answer.Edit = []byte(`{"words":["edited"]}`)
	res = w.exec.Decide(t.Context(), out.RequestID, answer)
	require.NotNil(t, res.Outcome)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	assert.Equal(t, []string{"tool", "edited"}, ran)
	assert.Equal(t, ran, saw)
}

// TestProgramChanged: a program that was replaced is not run: new calls are denied, and an approval in
// hand does not cover it.
// SEMANTICS 3.5.8
func TestProgramChanged(t *testing.T) {
	asks := runtime.Decision{Effect: runtime.EffectAsk}
	policy := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { return asks, nil })
	w := newWorkshop(t, policy, act(runtimetest.Act{}))
	out := w.call("c", "once")
	require.Equal(t, runtime.Pending, out.Kind)
	w.write(t, "another program")
	res := w.exec.Decide(t.Context(), out.RequestID, yes("alice"))
	require.NotNil(t, res.Outcome)
	assert.Equal(t, runtime.ReasonBindingMismatch, res.Outcome.Reason)
	assert.Equal(t, []string{"program"}, res.Outcome.Detail.Changed)

	asks.Effect = runtime.EffectAllow
	out = w.call("d", "look")
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonProgramChanged, out.Reason)
	assert.Equal(t, []string{"tool.invoked", "tool.validated", "tool.denied"}, w.kinds("d"), "before it is admitted")
	assert.Empty(t, w.runner.Started())
	w.write(t, "a program")
	assert.Equal(t, runtime.Completed, w.call("e", "look").Kind, "the same contents")
}

// TestNoUnrecordedProcess: a program does not run when its start cannot be recorded.
// SEMANTICS 6.6.8
func TestNoUnrecordedProcess(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{}))
	j := &failingStart{Memory: &w.journal}
	w.open(t, runtime.PolicyFunc(allowAll), engine.WithJournal(j))
	out := w.call("c", "once")
	assert.Equal(t, runtime.ReasonJournalUnavailable, out.Reason, out.Message)
	assert.Empty(t, w.runner.Started())
}

// A failingStart is a journal that takes no process.started.
type failingStart struct{ *journal.Memory }

func (j *failingStart) Append(ctx context.Context, entries []journal.Entry) error {
	for _, e := range entries {
		if e.Kind == journal.KindProcessStarted {
			return errors.New("the disk is full")
		}
	}
	return j.Memory.Append(ctx, entries)
}
