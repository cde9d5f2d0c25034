package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/process"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// restart starts a call of each tool, whose processes hang, and returns what recovery reads: a second
// workshop with the journal as it is then. The first goes on, as the processes of an agent that was killed may.
func restart(t *testing.T, w *workshop, names ...string) *workshop {
	t.Helper()
	w.open(t, runtime.PolicyFunc(allowAll))
	run := w.run()
	for _, name := range names {
		_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf(name, name, `{}`))
		require.NoError(t, err)
	}
	synctest.Wait()
	require.Len(t, w.runner.Started(), len(names))
	next := &workshop{runner: w.runner, tools: w.tools, config: w.config}
	entries, err := w.journal.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	require.NoError(t, next.journal.Append(t.Context(), entries))
	return next
}

// TestRecoveryEndsProcesses: recovery ends what earlier executors recorded before it settles their calls: one
// that may run again runs again, one that reads has failed, another is unknown.
func TestRecoveryEndsProcesses(t *testing.T) {
	acts := 0
	w := prepareWorkshop(t, func(*process.Job) runtimetest.Act {
		acts++
		return runtimetest.Act{Hang: acts <= 3, Stubborn: true, Out: "again"}
	})
	synctest.Test(t, func(t *testing.T) {
		next := restart(t, w, "make", "once", "look")
		next.open(t, runtime.PolicyFunc(allowAll))
		synctest.Wait()
		for call, want := range map[string]runtime.OutcomeKind{"make": runtime.Completed, "once": runtime.Unknown, "look": runtime.Failed} {
			out := next.exec.Await(t.Context(), "s", call)
			assert.Equal(t, want, out.Kind, "%s: %s", call, out.Message)
			_, ended := w.processes(t, call)
			require.Len(t, ended, 1, "the process of the first executor has ended")
			assert.Equal(t, process.Lost, ended[0].Process.Exit.Cause)
		}
		assert.Len(t, w.runner.Started(), 4)
		require.NoError(t, w.exec.Shutdown(t.Context()))
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// An elsewhere is a runner that cannot end what another process started.
type elsewhere struct{ *runtimetest.FakeRunner }

var errElsewhere = errors.New("it belongs to another namespace")

func (elsewhere) Kill(context.Context, process.ProcessID) error { return errElsewhere }

// TestProcessThatCannotBeEnded: a call that writes is not run again while its process may still run.
func TestProcessThatCannotBeEnded(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Hang: true}))
	synctest.Test(t, func(t *testing.T) {
		next := restart(t, w, "make")
		next.config.Runner = elsewhere{w.runner}
		next.open(t, runtime.PolicyFunc(allowAll))
		out := next.exec.Await(t.Context(), "s", "make")
		assert.Equal(t, runtime.Unknown, out.Kind)
		assert.Contains(t, out.Message, "its process may still run")
		faults := next.allFaults()
		require.Len(t, faults, 1)
		require.ErrorIs(t, faults[0].Err, errElsewhere)
		assert.Len(t, w.runner.Started(), 1)
		require.NoError(t, next.exec.Shutdown(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, w.exec.Shutdown(ctx))
	})
}

// TestStandInsOfCommands: a simulation needs no runner and starts nothing, and its policy sees what a command
// would run.
func TestStandInsOfCommands(t *testing.T) {
	file, err := dsl.Parse("commands.yaml", []byte(commandTools))
	require.NoError(t, err)
	loaded, err := dynamic.Load(file)
	require.NoError(t, err)
	var tools []*runtime.Tool
	for _, l := range loaded {
		tools = append(tools, runtime.NewDynamicTool(l.Spec, l.Input, func(context.Context, wire.Value) (wire.Value, error) {
			return wire.Raw(`{"instead":true}`), nil
		}, l.StandIn()...))
	}
	var saw []string
	r := newRigWith(t, runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		saw = in.Command.Argv
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), tools)
	out := r.turn().Execute(t.Context(), callOf("c", "make", `{"words":["a","b"]}`))
	assert.JSONEq(t, `{"instead":true}`, string(out.Output), out.Message)
	assert.Equal(t, []string{"tool", "a", "b"}, saw)
}
