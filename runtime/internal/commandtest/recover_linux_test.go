package commandtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/host"
)

// agentCalls are the calls that an agent has when it is killed.
var agentCalls = []string{"look", "once", "again"}

// TestKilledAgent: after a kill -9 of the agent, and of its shims before they see that, Recover ends what is left of its
// processes and settles their calls. What they wrote is kept.
// SEMANTICS 6.7.8
func TestKilledAgent(t *testing.T) {
	if !battery.Full(t) {
		t.Skip("it opens each store twice, and waits for leases: with AMBIT_BATTERY only")
	}
	eachForm(t, func(t *testing.T, f form) {
		for name, shims := range map[string]bool{"agent": false, "agent and shims": true} {
			t.Run(name, func(t *testing.T) {
				for range battery.Count(t, 1, 5) {
					f.killAndRecover(t, shims)
				}
			})
		}
	})
}

func (f form) killAndRecover(t *testing.T, shims bool) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "AMBIT_AGENT="+dir, "AMBIT_FORM="+f.name)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(out)
	var marks []string
	for len(marks) < len(agentCalls) && lines.Scan() {
		marks = append(marks, lines.Text())
	}
	require.Len(t, marks, len(agentCalls), "the agent has its processes")
	t.Cleanup(func() { // where the test fails
		for _, mark := range marks {
			endAll(mark)
		}
	})

	require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	if shims {
		for _, pid := range childrenOf(c.Process.Pid) {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	if shims && f.plain {
		for _, mark := range marks {
			require.NotEmpty(t, alive(mark), "no namespace ended them, and no shim did")
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "work", "go"), nil, 0o600))
	left := map[string][]int{}
	b := f.open(t, dir, "1h", func(cfg *host.Config) { cfg.Runner = recovering{cfg.Runner, marks, left} })
	for i, call := range agentCalls {
		want := map[string]runtime.OutcomeKind{"look": runtime.Failed, "once": runtime.Unknown, "again": runtime.Completed}[call]
		o := b.Executor.Await(t.Context(), "s", call)
		assert.Equal(t, want, o.Kind, "%s: %s", call, o.Message)
		require.Empty(t, alive(marks[i]), call)
		_, ended, err := b.records(call)
		require.NoError(t, err)
		require.NotEmpty(t, ended, call)
		assert.Equal(t, process.Lost, ended[0].Process.Exit.Cause)
		assert.EqualValues(t, len("on\n"), ended[0].Process.Exit.Stdout.Size)
		require.NotNil(t, ended[0].Process.Kept, call)
	}
	assert.Equal(t, map[string][]int{"again": nil}, left, "the call that may run again ran when all others had ended")
	require.NoError(t, b.Close(t.Context()))
}

// A recovering is a runner that notes which processes of the former agent are left when it starts one.
type recovering struct {
	process.Runner
	marks []string
	left  map[string][]int
}

func (r recovering) Run(ctx context.Context, job *process.Job) (*process.Exit, error) {
	var all []int
	for _, mark := range r.marks {
		all = append(all, alive(mark)...)
	}
	r.left["again"] = all
	return r.Runner.Run(ctx, job)
}

// agent starts a call of each tool, prints the marks of their processes when all run, and waits for its end.
func agent(dir string) {
	err := func() error {
		i := slices.IndexFunc(forms(), func(f form) bool { return f.name == os.Getenv("AMBIT_FORM") })
		cfg, err := forms()[i].config(dir, "1h")
		if err != nil {
			return err
		}
		b := &bench{dir: dir}
		if b.Host, err = host.Open(context.Background(), cfg); err != nil {
			return err
		}
		b.begin(context.Background())
		for _, call := range agentCalls {
			if err := b.start(call, "[ -e go ] && exit 0\n"+brood); err != nil {
				return err
			}
		}
		for _, call := range agentCalls {
			mark, err := b.running(call, broodSize)
			if err != nil || mark == "" {
				return fmt.Errorf("the call %s does not run: %w", call, err)
			}
			fmt.Println(mark)
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		time.Sleep(time.Hour)
	}
}

// endAll ends the processes with a mark.
func endAll(mark string) {
	for all := alive(mark); len(all) > 0; all = alive(mark) {
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// childrenOf returns the children of a process.
func childrenOf(pid int) (children []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
