package engine_test

import (
	"context"
	"fmt"
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

// TestDeadlineOfACommand: the call is answered at its deadline, the process gets SIGTERM and its grace,
// and its slot is held until nothing is left of it.
// SEMANTICS 6.1.8, 6.3.9
func TestDeadlineOfACommand(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Hang: true, Stubborn: true, Out: "some"}))
	w.config.Processes = 1
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(allowAll))
		run, from := w.run(), time.Now()
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c", "once", `{}`))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.Equal(t, 20*time.Second, time.Since(from))
		_, ended := w.processes(t, "c")
		assert.Empty(t, ended)
		assert.Equal(t, 1, w.exec.Stats().InFlight)
		next := run.Turn(engine.TurnConfig{Budget: 6 * time.Second}).Execute(t.Context(), callOf("d", "look", `{}`))
		assert.Equal(t, 22*time.Second+4*time.Second, time.Since(from), "it waits until the process was reaped: %s", next.Message)
		assert.Equal(t, runtime.TimedOut, next.Kind)
		require.NoError(t, run.Close(t.Context()))
		_, ended = w.processes(t, "c")
		require.Len(t, ended, 1)
		assert.Equal(t, "tool.late_result", ended[0].Kind)
		assert.Equal(t, "SIGKILL", ended[0].Process.Exit.Signal)
		assert.EqualValues(t, 5, ended[0].Process.Exit.Stdout.Size)
		require.NoError(t, w.exec.Shutdown(t.Context()))
	})
}

// TestQueueOfProcesses: as many processes run as may at once, over all tools, and a call that waits in
// vain is denied at_capacity. The limit changes at run time.
// SEMANTICS 6.3.9
func TestQueueOfProcesses(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Hang: true}))
	w.config.Processes = 1
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(allowAll))
		run := w.run()
		start := func(id, tool string, budget time.Duration) {
			_, err := run.Turn(engine.TurnConfig{Budget: budget}).StartCall(callOf(id, tool, `{}`))
			require.NoError(t, err)
			synctest.Wait()
		}
		start("a", "once", time.Hour)
		start("b", "look", 6*time.Second)
		start("c", "make", time.Hour)
		assert.Len(t, w.runner.Started(), 1)
		assert.Equal(t, 2, w.exec.Stats().Queued)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		out := w.exec.Await(t.Context(), "s", "b")
		assert.Equal(t, runtime.ReasonAtCapacity, out.Reason)
		assert.Contains(t, out.Message, "other commands ran")
		w.exec.SetProcesses(2)
		synctest.Wait()
		assert.Len(t, w.runner.Started(), 2)
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, w.exec.Shutdown(t.Context()))
	})
}

// TestEndsOfProcesses: a cancel, a closed run and a shutdown end the process of a call, and wait until
// nothing is left of it where they wait for handlers. A cancel at once leaves it no grace.
// SEMANTICS 6.1.8
func TestEndsOfProcesses(t *testing.T) {
	for name, c := range map[string]struct {
		end     func(t *testing.T, w *workshop, run *engine.Run)
		outcome runtime.OutcomeKind
		reason  runtime.Reason
		took    time.Duration
	}{
		"cancel": {func(t *testing.T, w *workshop, _ *engine.Run) {
			require.NoError(t, w.exec.Cancel(t.Context(), "s", "c", runtime.ProgramActor("alice"), ""))
		}, runtime.Cancelled, runtime.ReasonCancelled, 2 * time.Second},
		"cancel now": {func(t *testing.T, w *workshop, _ *engine.Run) {
			require.NoError(t, w.exec.CancelNow(t.Context(), "s", "c", runtime.ProgramActor("alice"), ""))
		}, runtime.Cancelled, runtime.ReasonCancelled, 0},
		"close": {func(t *testing.T, _ *workshop, run *engine.Run) {
			require.NoError(t, run.Close(t.Context()))
		}, runtime.Cancelled, runtime.ReasonRunClosed, 2 * time.Second},
		"shutdown": {func(t *testing.T, w *workshop, _ *engine.Run) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.NoError(t, w.exec.Shutdown(ctx))
		}, runtime.Cancelled, runtime.ReasonCancelled, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := prepareWorkshop(t, act(runtimetest.Act{Hang: true, Stubborn: true}))
			synctest.Test(t, func(t *testing.T) {
				w.open(t, runtime.PolicyFunc(allowAll))
				run := w.run()
				_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf("c", "once", `{}`))
				require.NoError(t, err)
				synctest.Wait()
				from := time.Now()
				c.end(t, w, run)
				out := w.exec.Await(t.Context(), "s", "c")
				assert.Equal(t, c.outcome, out.Kind)
				assert.Equal(t, c.reason, out.Reason)
				synctest.Wait()
				if name != "shutdown" {
					require.NoError(t, run.Close(t.Context()))
				}
				assert.Equal(t, c.took, time.Since(from))
				_, ended := w.processes(t, "c")
				require.Len(t, ended, 1)
				assert.Equal(t, process.Ended, ended[0].Process.Exit.Cause)
				require.NoError(t, w.exec.Shutdown(t.Context()))
			})
		})
	}
}

// TestDefaultProcesses: where the host says nothing, five processes run at once.
// SEMANTICS 8.1.18
func TestDefaultProcesses(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Hang: true}))
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(allowAll))
		run := w.run()
		for i := range 8 {
			tool, input := "make", fmt.Sprintf(`{"words":["w%d"]}`, i)
			if i%2 == 0 {
				tool, input = "look", fmt.Sprintf(`{"at":"%d"}`, i)
			}
			_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf(fmt.Sprint("c", i), tool, input))
			require.NoError(t, err)
		}
		synctest.Wait()
		assert.Len(t, w.runner.Started(), 5)
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, w.exec.Shutdown(t.Context()))
	})
}
