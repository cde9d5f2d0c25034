//go:build unix

package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// stoppedKind names the child process that TestStoppedProcess stops. It makes calls
// whose evaluations take 10 ms of processor time each, until its input ends.
const stoppedKind = "stopped"

func beStopped() int {
	policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		var began, now syscall.Rusage
		for err := syscall.Getrusage(syscall.RUSAGE_SELF, &began); err == nil; err = syscall.Getrusage(syscall.RUSAGE_SELF, &now) {
			if time.Duration(now.Utime.Nano()-began.Utime.Nano()) > 10*time.Millisecond {
				break
			}
		}
		return allowAll(ctx, in)
	})
	reg, err := runtime.NewRegistry(readTool(okRead))
	if err != nil {
		return 2
	}
	e, err := engine.NewExecutor(reg, policy)
	if err != nil {
		return 2
	}
	run, err := e.Session(engine.SessionConfig{}).StartRun(context.Background(), engine.RunConfig{})
	if err != nil {
		return 2
	}
	over := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		close(over)
	}()
	turn := run.Turn(engine.TurnConfig{})
	fmt.Println("running")
	for made := 0; ; made++ {
		select {
		case <-over:
			fmt.Println("completed", made > 0)
			return 0
		default:
		}
		if out := turn.Execute(context.Background(), runtime.Call{Tool: "file_read", Input: []byte(goodInput)}); out.Kind != runtime.Completed {
			fmt.Println(out.Kind, out.Reason, out.Detail.Rule, "after", made)
			return 1
		}
	}
}

// TestStoppedProcess stops a process for 150 ms in every 300 ms while it evaluates its
// policy: no call is denied for that.
func TestStoppedProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), signalled+"="+stoppedKind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "running\n", line)
	for range 6 {
		require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(150 * time.Millisecond)
		require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
		time.Sleep(150 * time.Millisecond)
	}
	require.NoError(t, in.Close())
	line, err = lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "completed true\n", line)
	require.NoError(t, cmd.Wait())
}
