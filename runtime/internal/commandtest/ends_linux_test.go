package commandtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestNothingIsLeft: a cancel, with a grace and without one, the end of a run and of a session, and a shutdown that does
// not wait end the tree of a call. When the engine has said so, no process of it is left. A plain run takes two of them.
// SEMANTICS 6.1.8
func TestNothingIsLeft(t *testing.T) {
	ends := map[string]func(t *testing.T, b *bench){
		"cancel": func(t *testing.T, b *bench) {
			require.NoError(t, b.Executor.Cancel(t.Context(), "s", "once", runtime.ProgramActor("ada"), ""))
			require.NoError(t, b.run.Close(t.Context()))
		},
		"cancel now": func(t *testing.T, b *bench) {
			require.NoError(t, b.Executor.CancelNow(t.Context(), "s", "once", runtime.ProgramActor("ada"), ""))
			require.NoError(t, b.run.Close(t.Context()))
		},
		"close":   func(t *testing.T, b *bench) { require.NoError(t, b.run.Close(t.Context())) },
		"session": func(t *testing.T, b *bench) { require.NoError(t, b.session.End(t.Context())) },
		"shutdown": func(t *testing.T, b *bench) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.NoError(t, b.Executor.Shutdown(ctx))
		},
	}
	if !battery.Full(t) {
		for _, name := range []string{"cancel", "close", "shutdown"} {
			delete(ends, name)
		}
	}
	eachForm(t, func(t *testing.T, f form) {
		for name, end := range ends {
			t.Run(name, func(t *testing.T) {
				for range battery.Count(t, 1, 2) {
					b := f.open(t, t.TempDir(), "1h", nil)
					require.NoError(t, b.start("once", brood))
					mark, err := b.running("once", broodSize)
					require.NoError(t, err)
					require.NotEmpty(t, mark)
					end(t, b)
					require.Empty(t, alive(mark))
					require.Equal(t, "ABORTED", b.state(t, "once"))
					exit := b.ended(t, "once").Process.Exit
					require.Equal(t, process.Ended, exit.Cause)
					require.Equal(t, "SIGKILL", exit.Signal)
					require.NoError(t, b.Close(t.Context()))
				}
			})
		}
	})
}

// TestGrace: a cancel lets a process end by itself, and one at once does not.
func TestGrace(t *testing.T) {
	if !battery.Full(t) {
		t.Skip("the process has 4 s to end by itself: with AMBIT_BATTERY only")
	}
	eachForm(t, func(t *testing.T, f form) {
		b := f.open(t, t.TempDir(), "1h", nil)
		for call, end := range map[string]func(context.Context, string, string, runtime.Actor, string) error{
			"polite-cancel": b.Executor.Cancel, "polite-now": b.Executor.CancelNow,
		} {
			require.NoError(t, b.start(call, polite))
			_, err := b.running(call, 2)
			require.NoError(t, err)
			require.NoError(t, end(t.Context(), "s", call, runtime.ProgramActor("ada"), ""))
			assert.Equal(t, runtime.Cancelled, b.Executor.Await(t.Context(), "s", call).Kind)
		}
		require.NoError(t, b.run.Close(t.Context()))
		exit := b.ended(t, "polite-cancel").Process.Exit
		assert.Equal(t, []any{3, "", int64(len("on\nbye\n"))}, []any{exit.Code, exit.Signal, exit.Stdout.Size})
		exit = b.ended(t, "polite-now").Process.Exit
		assert.Equal(t, []any{-1, "SIGKILL", int64(len("on\n"))}, []any{exit.Code, exit.Signal, exit.Stdout.Size})
		require.NoError(t, b.Close(t.Context()))
	})
}

// TestDrain: a shutdown lets a command end by itself until its time is over, and ends the rest then.
func TestDrain(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		b := f.open(t, t.TempDir(), "1h", nil)
		require.NoError(t, b.start("look", "echo on; "+gated))
		require.NoError(t, b.start("once", brood))
		marks := map[string]string{}
		for call, size := range map[string]int{"look": 1, "once": broodSize} {
			mark, err := b.running(call, size)
			require.NoError(t, err)
			marks[call] = mark
		}
		ctx, cancel := context.WithCancel(t.Context())
		down := make(chan error, 1)
		go func() { down <- b.Executor.Shutdown(ctx) }()
		for i := 0; b.run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(fmt.Sprint("look-", i), "")).Reason != runtime.ReasonShuttingDown; i++ {
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "work", "go"), nil, 0o600))
		assert.Equal(t, runtime.Completed, b.Executor.Await(t.Context(), "s", "look").Kind, "within the drain")
		require.NotEmpty(t, alive(marks["once"]), "the drain is not over")
		cancel()
		require.NoError(t, <-down)
		require.Empty(t, alive(marks["once"]))
		require.Empty(t, alive(marks["look"]))
		assert.Equal(t, runtime.Cancelled, b.Executor.Await(t.Context(), "s", "once").Kind)
		require.NoError(t, b.Close(t.Context()))
	})
}

// TestDeadline: the deadline of a call ends its tree, and a late entry has the end of the process, with what it has
// used and written. A deadline that is over before the tree is there proves nothing: then a longer one is tried.
func TestDeadline(t *testing.T) {
	if !battery.Full(t) {
		t.Skip("it waits for deadlines: with AMBIT_BATTERY only")
	}
	eachForm(t, func(t *testing.T, f form) {
		for range battery.Count(t, 1, 1) {
			mark := ""
			for seconds := 1; mark == ""; seconds *= 2 {
				b := f.open(t, t.TempDir(), fmt.Sprint(seconds, "s"), nil)
				require.NoError(t, b.start("once", brood))
				var err error
				mark, err = b.running("once", broodSize)
				require.NoError(t, err)
				out := b.Executor.Await(t.Context(), "s", "once")
				require.Equal(t, runtime.TimedOut, out.Kind, out.Message)
				require.Equal(t, runtime.ReasonDeadline, out.Reason)
				require.NoError(t, b.run.Close(t.Context()))
				if mark != "" {
					require.Empty(t, alive(mark))
					late := b.ended(t, "once")
					require.Equal(t, "tool.late_result", late.Kind)
					require.Equal(t, process.Ended, late.Process.Exit.Cause)
					require.Equal(t, "SIGKILL", late.Process.Exit.Signal)
					require.EqualValues(t, len("on\n"), late.Process.Exit.Stdout.Size)
					require.NotNil(t, late.Process.Kept)
					use := late.Process.Exit.Usage
					require.Positive(t, use.PeakMemory)
					require.Positive(t, use.User+use.System)
				}
				require.NoError(t, b.Close(t.Context()))
			}
		}
	})
}
