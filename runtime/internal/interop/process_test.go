package interop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/otel"
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
    input: {type: object, properties: {word: {type: string, pattern: "^[a-z]", description: A word.}, key: {type: string, x-sensitive: true, description: A key.}}}
    command: {run: [tool, {arg: word}], env: {PATH: $TOOLS}, stdin: key, exits: {3: {category: resource_exhausted}}}
    idempotent: true
    retry: {max: 1, initial: 1ms, cap: 1ms}
    deadline: 20s
`

// TestSpansOfProcesses: the span of each attempt of a command has its process, and nothing that it is given or
// writes.
func TestSpansOfProcesses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("a program"), 0o700)) //nolint:gosec // a program
	file, err := dsl.Parse("commands.yaml", []byte(commandTool))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	usage := runtime.ProcessUsage{User: 1500 * time.Millisecond, System: time.Second, PeakMemory: 7, ReadBytes: 8, WriteBytes: 9}
	ends := []runtimetest.Act{{Out: secret, Code: 3, Usage: usage}, {Err: secret, Signal: "SIGSEGV", Usage: usage}}
	runner := &runtimetest.FakeRunner{}
	runner.Script = func(*process.Job) runtimetest.Act { return ends[len(runner.Started())] }
	spans := tracetest.NewSpanRecorder()
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	exec, err := engine.NewExecutor(reg, allow,
		engine.WithTracer(otel.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), reg)),
		engine.WithProcesses(engine.ProcessConfig{Runner: runner, Variable: func(string) (string, bool) { return dir, true }}))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{ID: "s"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c", Tool: "make", Input: []byte(`{"word":"hidden","key":"` + secret + `"}`)})
	require.Equal(t, runtime.Failed, out.Kind, out.Message)

	var attempts []map[string]string
	for _, s := range spans.Ended() {
		all := map[string]string{}
		for _, a := range s.Attributes() {
			all[string(a.Key)] = a.Value.Emit()
		}
		text := fmt.Sprint(s.Name(), all, s.Events(), s.Status())
		assert.NotContains(t, text, secret)
		assert.NotContains(t, text, "hidden")
		if s.Name() == "ambit.handler" {
			for _, instant := range []string{"process.creation.time", "ambit.process.due"} {
				_, err := time.Parse(time.RFC3339Nano, all[instant])
				require.NoError(t, err)
				delete(all, instant)
			}
			attempts = append(attempts, all)
		}
	}
	used := func(attempt, pid, code string) map[string]string {
		return map[string]string{
			"ambit.attempt": attempt, "process.pid": pid, "process.exit.code": code, "ambit.process.cpu.user": "1.5", "ambit.process.cpu.system": "1",
			"ambit.process.memory.peak": "7", "ambit.process.io.read": "8", "ambit.process.io.written": "9",
		}
	}
	second := used("2", "2", "-1")
	second["ambit.process.signal"] = "SIGSEGV"
	assert.Equal(t, []map[string]string{used("1", "1", "3"), second}, attempts)
}
