package engine_test

import (
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

// TestFiguresOfProcesses: while a process runs, the figures of the executor say of which call and attempt
// it is, until when it may run and what it used at its last heartbeat. Heartbeats add no entry, and what was
// used stays when the process has ended, once for each attempt.
// SEMANTICS 6.13.1, 6.13.2
func TestFiguresOfProcesses(t *testing.T) {
	beats := []runtime.ProcessUsage{{User: time.Second, Memory: 10, Processes: 1}, {User: 2 * time.Second, Memory: 30, PeakMemory: 30, Processes: 2}}
	exit := runtime.ProcessUsage{User: 3 * time.Second, System: time.Second, PeakMemory: 40, ReadBytes: 5, WriteBytes: 6}
	w := prepareWorkshop(t, nil)
	w.runner.Took = 5 * time.Second
	w.runner.Script = func(*process.Job) runtimetest.Act { // the first attempt is repeated
		code := 0
		if len(w.runner.Started()) == 0 {
			code = 3
		}
		return runtimetest.Act{Code: code, Beats: beats, Usage: exit}
	}
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(allowAll))
		assert.Empty(t, w.exec.Stats().Processes)
		assert.Empty(t, w.exec.Stats().Usage)
		run := w.run()
		_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf("c", "make", `{"words":["word"]}`))
		require.NoError(t, err)
		synctest.Wait()
		began := time.Now()
		running := w.exec.Stats().Processes
		require.Len(t, running, 1)
		want := runtime.RunningProcess{
			Session: "s", Call: "c", Attempt: 1, Tool: "make", ID: w.runner.Started()[0], Since: began, Due: began.Add(20 * time.Second), Seen: began, Usage: beats[0],
		}
		assert.Equal(t, want, running[0])
		entries := len(records(t, &w.journal))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want.Seen, want.Usage = began.Add(time.Second), beats[1]
		assert.Equal(t, []runtime.RunningProcess{want}, w.exec.Stats().Processes)
		assert.Len(t, records(t, &w.journal), entries, "a heartbeat is no entry")
		assert.Equal(t, map[string]runtime.ProcessUsage{"make": beats[1]}, w.exec.Stats().Usage)
		for len(w.runner.Started()) == 1 { // the wait before an attempt has a random part
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		running = w.exec.Stats().Processes
		require.Len(t, running, 1)
		assert.Equal(t, 2, running[0].Attempt)
		sum := exit
		sum.Add(beats[0])
		sum.PeakMemory = exit.PeakMemory
		assert.Equal(t, sum, w.exec.Stats().Usage["make"])
		require.Equal(t, runtime.Completed, w.exec.Await(t.Context(), "s", "c").Kind)
		synctest.Wait() // for the worker to leave the call
		twice := exit
		twice.Add(exit)
		assert.Equal(t, runtime.Stats{Usage: map[string]runtime.ProcessUsage{"make": twice}}, w.exec.Stats())
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, w.exec.Shutdown(t.Context()))
	})
}
