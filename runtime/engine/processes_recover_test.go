package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
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
	return w.crashed(t)
}

// TestRecoveryEndsProcesses: recovery ends what earlier executors recorded before it settles their calls: one
// that may run again runs again, one that reads has failed, another is unknown.
// SEMANTICS 6.7.8
func TestRecoveryEndsProcesses(t *testing.T) {
	var acts atomic.Int32
	w := prepareWorkshop(t, func(*process.Job) runtimetest.Act {
		return runtimetest.Act{Hang: acts.Add(1) <= 3, Stubborn: true, Out: "again"}
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

// TestCommandThatWasNotStarted: what the executor stopped before is named as what it is.
func TestCommandThatWasNotStarted(t *testing.T) {
	w := prepareWorkshop(t, nil)
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
			<-ctx.Done()
			return runtime.Decision{}, ctx.Err()
		}))
		turn := w.run().Turn(engine.TurnConfig{})
		_, err := turn.StartCall(callOf("c", "make", `{}`))
		require.NoError(t, err)
		synctest.Wait()
		turn.Execute(t.Context(), callOf("d", "none", `{}`)) // its outcome is durable, and what was written before it
		next := w.crashed(t)
		next.open(t, runtime.PolicyFunc(allowAll))
		out := next.exec.Await(t.Context(), "s", "c")
		assert.Equal(t, runtime.Failed, out.Kind)
		assert.Equal(t, "the executor stopped before the command was started: nothing was done", out.Message)
		require.NoError(t, w.exec.Shutdown(t.Context()))
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// crash is restart with a spool.
func crash(t *testing.T, w *workshop, names ...string) *workshop {
	t.Helper()
	w.config.Spool = filepath.Join(w.tools, "spool")
	return restart(t, w, names...)
}

// crashed returns a second workshop with copies of the journal and the spool as they are now.
func (w *workshop) crashed(t *testing.T) *workshop {
	t.Helper()
	next := &workshop{runner: w.runner, tools: w.tools, config: w.config, text: w.text}
	entries, err := w.journal.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	require.NoError(t, next.journal.Append(t.Context(), entries))
	if w.config.Spool != "" {
		next.config.Spool = filepath.Join(w.tools, "copy")
		require.NoError(t, os.CopyFS(next.config.Spool, os.DirFS(w.config.Spool)))
	}
	return next
}

// TestOutputAfterACrash: what a process wrote before a crash is an artifact, which the next entry of its call names.
// Then it is in the spool no more.
// SEMANTICS 6.7.9
func TestOutputAfterACrash(t *testing.T) {
	var acts atomic.Int32
	w := prepareWorkshop(t, func(job *process.Job) runtimetest.Act {
		return runtimetest.Act{Hang: acts.Add(1) <= 3, Stubborn: true, Out: "said " + job.Mark}
	})
	synctest.Test(t, func(t *testing.T) {
		next := crash(t, w, "make", "once", "look")
		store := new(runtime.MemoryArtifacts)
		next.open(t, runtime.PolicyFunc(allowAll), engine.WithArtifacts(store))
		synctest.Wait()
		for _, call := range []string{"make", "once", "look"} {
			_, ended := next.processes(t, call)
			require.NotEmpty(t, ended)
			assert.Equal(t, "tool.orphaned", ended[0].Kind)
			end := ended[0].Process
			assert.Equal(t, process.Lost, end.Exit.Cause)
			require.NotNil(t, end.Kept)
			data, err := next.exec.Artifact(t.Context(), *end.Kept)
			require.NoError(t, err)
			assert.JSONEq(t, fmt.Sprintf(`{"stdout":{"size":%d,"head":"said %s\n"},"stderr":{"size":0,"head":""}}`, len("said \n"+end.ID.Mark), end.ID.Mark), string(data))
		}
		left, err := os.ReadDir(next.config.Spool)
		require.NoError(t, err)
		assert.Empty(t, left)
		require.NoError(t, w.exec.Shutdown(t.Context()))
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// TestSensitiveOutputAfterACrash: sensitive values of the call are not in what is kept. Where they were erased nothing is.
// SEMANTICS 6.7.9
func TestSensitiveOutputAfterACrash(t *testing.T) {
	for name, row := range map[string]struct{ erased, kept bool }{"known": {kept: true}, "erased": {erased: true}} {
		t.Run(name, func(t *testing.T) {
			w := prepareWorkshop(t, act(runtimetest.Act{Hang: true, Stubborn: true, Echo: true}))
			synctest.Test(t, func(t *testing.T) {
				w.config.Spool = filepath.Join(w.tools, "spool")
				w.open(t, runtime.PolicyFunc(allowAll))
				_, err := w.run().Turn(engine.TurnConfig{}).StartCall(callOf("c", "pipe", `{"key":"hunter2222"}`))
				require.NoError(t, err)
				synctest.Wait()
				next := w.crashed(t)
				if row.erased {
					entries, err := w.journal.Read(t.Context(), 0, 1<<20)
					require.NoError(t, err)
					for i := range entries {
						entries[i].Private = nil
					}
					next.journal = journal.Memory{}
					require.NoError(t, next.journal.Append(t.Context(), entries))
				}
				next.open(t, runtime.PolicyFunc(allowAll), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
				_, ended := next.processes(t, "c")
				require.Len(t, ended, 1)
				if !row.kept {
					assert.Nil(t, ended[0].Process.Kept)
				} else {
					require.NotNil(t, ended[0].Process.Kept)
					data, err := next.exec.Artifact(t.Context(), *ended[0].Process.Kept)
					require.NoError(t, err)
					assert.JSONEq(t, `{"stdout":{"size":10,"head":"(sensitive)"},"stderr":{"size":0,"head":""}}`, string(data))
				}
				require.NoError(t, w.exec.Shutdown(t.Context()))
				require.NoError(t, next.exec.Shutdown(t.Context()))
			})
		})
	}
}

// TestLateOutputAfterACrash: the agent was killed between the deadline of a call and the end of its process.
// SEMANTICS 6.7.9
func TestLateOutputAfterACrash(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Hang: true, Stubborn: true, Out: "said"}))
	synctest.Test(t, func(t *testing.T) {
		w.config.Spool = filepath.Join(w.tools, "spool")
		w.open(t, runtime.PolicyFunc(allowAll))
		require.Equal(t, runtime.TimedOut, w.call("c", "once").Kind)
		next := w.crashed(t)
		next.open(t, runtime.PolicyFunc(allowAll), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
		_, ended := next.processes(t, "c")
		require.Len(t, ended, 1)
		assert.Equal(t, "tool.late_result", ended[0].Kind)
		require.NotNil(t, ended[0].Process.Kept)
		_, err := next.exec.Artifact(t.Context(), *ended[0].Process.Kept)
		require.NoError(t, err)
		require.NoError(t, w.exec.Shutdown(t.Context()))
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// A killing is a runner that counts what it is asked to end.
type killing struct {
	*runtimetest.FakeRunner
	asked *atomic.Int32
}

func (k killing) Kill(ctx context.Context, id runtime.ProcessID) error {
	k.asked.Add(1)
	return k.FakeRunner.Kill(ctx, id)
}

// TestEndIsRecordedOnce: recovery records the end of each process, also of one that wrote nothing, and of a call that
// had its outcome, and the next recovery asks no runner about it.
// SEMANTICS 6.7.10
func TestEndIsRecordedOnce(t *testing.T) {
	for name, row := range map[string]struct {
		begin func(*testing.T, *workshop) *workshop
		kind  string // of the entry with the end
	}{
		"running": {func(_ *testing.T, w *workshop) *workshop { return w }, "tool.orphaned"},
		"timed out": {func(_ *testing.T, w *workshop) *workshop {
			time.Sleep(20 * time.Second)
			synctest.Wait()
			return w
		}, "tool.late_result"},
		"unknown":   {func(t *testing.T, w *workshop) *workshop { return w.unknown(t, false) }, "tool.orphaned"},
		"completed": {func(t *testing.T, w *workshop) *workshop { return w.unknown(t, true) }, journal.KindProcessEnded},
	} {
		t.Run(name, func(t *testing.T) {
			w := prepareWorkshop(t, act(runtimetest.Act{Hang: true, Stubborn: true}))
			synctest.Test(t, func(t *testing.T) {
				w.open(t, runtime.PolicyFunc(allowAll))
				_, err := w.run().Turn(engine.TurnConfig{}).StartCall(callOf("once", "once", `{}`))
				require.NoError(t, err)
				synctest.Wait()
				var asked atomic.Int32
				next := row.begin(t, w).crashed(t)
				for range 3 {
					next.config.Runner = killing{w.runner, &asked}
					next.open(t, runtime.PolicyFunc(allowAll))
					require.NoError(t, next.exec.Shutdown(t.Context()))
					next = next.crashed(t)
				}
				assert.EqualValues(t, 1, asked.Load())
				_, ended := next.processes(t, "once")
				require.Len(t, ended, 1)
				assert.Equal(t, row.kind, ended[0].Kind)
				assert.Equal(t, process.Lost, ended[0].Process.Exit.Cause)
				require.NoError(t, w.exec.Shutdown(t.Context()))
			})
		})
	}
}

// unknown restarts w on a runner that cannot end its processes, so that the call is unknown, and resolves it.
func (w *workshop) unknown(t *testing.T, resolve bool) *workshop {
	t.Helper()
	next := w.crashed(t)
	next.config.Runner = elsewhere{w.runner}
	next.open(t, runtime.PolicyFunc(allowAll))
	if resolve {
		require.NoError(t, next.exec.Resolve(t.Context(), "s", "once", action.ResolveRequest{By: runtime.ProgramActor("ops"), TookEffect: true}))
	}
	require.NoError(t, next.exec.Shutdown(t.Context()))
	return next
}

// TestOutputThatCannotBeKept: recovery goes on without a store, and with one that fails, and leaves nothing in the
// spool.
// SEMANTICS 6.7.9
func TestOutputThatCannotBeKept(t *testing.T) {
	for name, opts := range map[string][]engine.Option{"none": nil, "fails": {engine.WithArtifacts(brokenArtifacts{})}} {
		t.Run(name, func(t *testing.T) {
			w := prepareWorkshop(t, act(runtimetest.Act{Hang: true, Stubborn: true, Out: "said"}))
			synctest.Test(t, func(t *testing.T) {
				next := crash(t, w, "look")
				next.open(t, runtime.PolicyFunc(allowAll), opts...)
				assert.Equal(t, runtime.Failed, next.exec.Await(t.Context(), "s", "look").Kind)
				faults := next.allFaults()
				require.Len(t, faults, len(opts))
				for _, f := range faults {
					require.ErrorIs(t, f.Err, errNoStore)
					assert.Equal(t, "look", f.CallID)
				}
				left, err := os.ReadDir(next.config.Spool)
				require.NoError(t, err)
				assert.Empty(t, left)
				require.NoError(t, w.exec.Shutdown(t.Context()))
				require.NoError(t, next.exec.Shutdown(t.Context()))
			})
		})
	}
}

var errNoStore = errors.New("the disk is full")

// brokenArtifacts is a store that stores nothing.
type brokenArtifacts struct{ runtime.ArtifactStore }

func (brokenArtifacts) Put(context.Context, runtime.ArtifactRef, []byte) error { return errNoStore }

// An elsewhere is a runner that cannot end what another process started.
type elsewhere struct{ *runtimetest.FakeRunner }

var errElsewhere = errors.New("it belongs to another namespace")

func (elsewhere) Kill(context.Context, runtime.ProcessID) error { return errElsewhere }

// TestProcessThatCannotBeEnded: a call that writes is not run again while its process may still run.
// SEMANTICS 6.7.8
func TestProcessThatCannotBeEnded(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Hang: true}))
	synctest.Test(t, func(t *testing.T) {
		next := restart(t, w, "make")
		next.config.Runner = elsewhere{w.runner}
		next.open(t, runtime.PolicyFunc(allowAll))
		out := next.exec.Await(t.Context(), "s", "make")
		assert.Equal(t, runtime.Unknown, out.Kind)
		assert.Contains(t, out.Message, "the executor stopped while the command ran: its process may still run")
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
