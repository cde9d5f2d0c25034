package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/ossignals"
)

// signalled names what a child process of the tests does; see asChild.
const signalled = "AMBIT_TEST_SIGNALLED"

// asChild is the process that TestSignals starts: an executor with a call that obeys
// its context or not, shut down by signals. It prints the outcome.
func asChild(kind string) int {
	begun := make(chan struct{})
	hold := make(chan struct{})
	tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(begun)
		if kind == "deaf" {
			<-hold
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}, func(s *runtime.Spec) { s.Deadline = time.Hour })
	reg, err := runtime.NewRegistry(tool)
	if err != nil {
		return 2
	}
	e, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll))
	if err != nil {
		return 2
	}
	grace := time.Duration(0)
	if kind == "deaf" {
		grace = time.Hour
	}
	wait := ossignals.ShutdownOn(context.Background(), e, grace)
	run, err := e.Session(engine.SessionConfig{}).StartRun(context.Background(), engine.RunConfig{})
	if err != nil {
		return 2
	}
	out := told(run.Turn(engine.TurnConfig{}), callOf("c1", "file_read", goodInput))
	<-begun
	fmt.Println("running")
	if kind == "deaf" {
		for { // until a call is denied: then the shutdown has begun
			again := run.Turn(engine.TurnConfig{}).Execute(context.Background(), runtime.Call{Tool: "nothing"})
			if _, err := e.Session(engine.SessionConfig{}).StartRun(context.Background(), engine.RunConfig{}); err != nil {
				fmt.Println("shutting down", again.Kind)
				break
			}
			goruntime.Gosched()
		}
	}
	err = wait()
	fmt.Println((<-out).Kind, err)
	return 0
}

// TestSignals sends signals to a real process.
func TestSignals(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Log("a process cannot send signals there")
		return
	}
	for _, one := range []struct {
		kind    string
		signals []os.Signal
		status  int
		says    string
	}{
		{"listens", []os.Signal{syscall.SIGTERM}, 0, "cancelled <nil>\n"},
		{"deaf", []os.Signal{os.Interrupt, os.Interrupt}, 130, ""},
		{"deaf", []os.Signal{os.Interrupt, syscall.SIGTERM}, 143, ""},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), signalled+"="+one.kind)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(out)
		for _, s := range one.signals {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(line, "running") || strings.HasPrefix(line, "shutting down"), line)
			require.NoError(t, cmd.Process.Signal(s))
		}
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		var status *exec.ExitError
		if err = cmd.Wait(); one.status == 0 {
			require.NoError(t, err)
		} else if assert.ErrorAs(t, err, &status) {
			assert.Equal(t, one.status, status.ExitCode())
		}
		assert.Equal(t, one.says, string(rest))
	}
}

// outsideOfBubbles starts the goroutine of the standard library that receives signals.
// The goroutine never ends, which no goroutine in a bubble of synctest may do.
func outsideOfBubbles() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	signal.Stop(c)
}

// TestShutdownOnContext: the end of a context has the same effect as a signal.
func TestShutdownOnContext(t *testing.T) {
	outsideOfBubbles()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 1)
		r := newRig(t, obedient(begun))
		ctx, cancel := context.WithCancel(t.Context())
		wait := ossignals.ShutdownOn(ctx, r.exec, time.Minute, syscall.SIGHUP)
		out := told(r.turn(), callOf("c1", "file_read", goodInput))
		<-begun
		cancel()
		began := time.Now()
		require.NoError(t, wait())
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, runtime.Cancelled, (<-out).Kind)
		require.NoError(t, wait())
	})
}

// TestGraceIsOver: the error says that handlers ran past the grace period.
func TestGraceIsOver(t *testing.T) {
	outsideOfBubbles()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(time.Hour, writes, func(s *runtime.Spec) { s.Deadline = 2 * time.Hour }))
		ctx, cancel := context.WithCancel(t.Context())
		wait := ossignals.ShutdownOn(ctx, r.exec, time.Minute)
		out := told(r.turn(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		cancel()
		err := wait()
		assert.EqualError(t, err, "shutdown: 1 calls are still running: the time of grace is over")
		assert.False(t, errors.Is(err, context.Canceled))
		assert.Equal(t, runtime.Unknown, (<-out).Kind)
		time.Sleep(time.Hour)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}
