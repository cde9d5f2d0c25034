package isolate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// brood is a script that starts children and daemons, which hold its output, and ignores SIGTERM.
const brood = `trap '' TERM
i=0; while [ $i -lt 10 ]; do i=$((i+1)); sleep 1000 & setsid sh -c 'trap "" TERM; sleep 1000; sleep 1000' & done
echo on; wait; sleep 1000`

// alive returns the processes of this host whose environment names a call.
func alive(mark string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, d := range dirs {
		text, err := os.ReadFile(d)
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), process.MarkVariable+"="+mark) {
			pid, _ := strconv.Atoi(strings.Split(d, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func markOf(t *testing.T, i int) string { return fmt.Sprintf("%d-%s-%d", os.Getpid(), t.Name(), i) }

func scriptJob(t *testing.T, f form, script, mark string) *process.Job {
	t.Helper()
	return &process.Job{
		Spec:    &process.Spec{Tier: f.tier, Limits: runtime.ProcessLimits{}.Defaults(10 * time.Minute)},
		Program: find(t, "sh"), Argv: []string{"sh", "-c", script}, Mark: mark, Grace: 100 * time.Millisecond,
	}
}

// TestNothingOutlivesARun ends jobs with children and daemons by their context: when Run returns,
// none is left.
func TestNothingOutlivesARun(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			for i := range battery.Count(t, 1, 10) {
				job := scriptJob(t, f, brood, markOf(t, i))
				ctx, cancel := context.WithCancel(t.Context())
				job.Output = func(process.Chunk) {
					for len(alive(job.Mark)) < 20 { // a process that becomes its program has no environment for a moment
						time.Sleep(time.Millisecond)
					}
					cancel()
				}
				exit, err := r.Run(ctx, job)
				require.NoError(t, err)
				require.Equal(t, process.Ended, exit.Cause)
				require.Equal(t, "SIGKILL", exit.Signal)
				require.Empty(t, alive(job.Mark))
			}
		})
	}
}

// TestDaemonsEndWithTheirCommand: what a command leaves behind ends when it does.
func TestDaemonsEndWithTheirCommand(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			for i := range battery.Count(t, 1, 10) {
				job := scriptJob(t, f, strings.Replace(brood, "echo on; wait; sleep 1000", "exit 7", 1), markOf(t, i))
				exit, err := r.Run(t.Context(), job)
				require.NoError(t, err)
				require.Equal(t, 7, exit.Code)
				require.Empty(t, alive(job.Mark))
			}
		})
	}
}

// TestManyBackgroundProcessesUnderASmallLimit: init is under none of the limits of the box, so the
// end is reported.
func TestManyBackgroundProcessesUnderASmallLimit(t *testing.T) {
	f := forms()[0]
	r := f.open(t)
	if battery.Full(t) && !cgo() {
		t.Skip("this program is built without cgo, whose threads and data count in the limits of a process")
	}
	for i := range battery.Count(t, 1, 10) {
		job := scriptJob(t, f, "i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; exit 3", markOf(t, i))
		job.Spec.Limits.Memory, job.Spec.Limits.Processes = 128<<20, 64
		exit, err := r.Run(t.Context(), job)
		require.NoError(t, err)
		require.Equal(t, 3, exit.Code, "%+v %s", exit, exit.Stderr.Head)
	}
}

// cgo says whether this program is built with cgo.
func cgo() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"})
}

// TestKilledFromOutside kills the agent, the shim or init, each with SIGKILL. With namespaces nothing
// is left, which a battery wants within a second; without, Kill of the next agent ends the rest.
func TestKilledFromOutside(t *testing.T) {
	for _, f := range forms() {
		victims := []string{"agent", "shim", "init"}
		if !battery.Full(t) {
			victims = victims[:1]
		}
		for _, victim := range victims {
			t.Run(f.name+"/"+victim, func(t *testing.T) {
				r := f.open(t)
				var longest time.Duration
				for i := range battery.Count(t, 1, 5) {
					mark := markOf(t, i)
					agent, id := startAgent(t, f, mark)
					pid := agent.Process.Pid
					switch victim {
					case "init":
						pid = id.PID
					case "shim":
						pid = parentOf(t, id.PID)
						if f.plain {
							pid = id.PID // the shim is init
						}
					}
					require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
					if f.plain {
						require.NoError(t, r.Kill(t.Context(), id))
						require.Empty(t, alive(mark))
					}
					took := survived(mark)
					_ = agent.Process.Kill()
					_ = agent.Wait()
					longest = max(longest, took)
					require.True(t, f.plain || !battery.Full(t) || took <= time.Second, "0 survivors within 1 s: %s", took)
				}
				t.Logf("the last survivor was there for at most %s", longest)
			})
		}
	}
}

// survived waits until no process with a mark is left, and returns how long that took. A look at them counts for at most
// 25 ms: where the machine has so much to do that the test is late, they are too.
func survived(mark string) (took time.Duration) {
	for left := true; left; { // go test -timeout ends what hangs
		at := time.Now()
		time.Sleep(time.Millisecond)
		left = len(alive(mark)) > 0
		took += min(time.Since(at), 25*time.Millisecond)
	}
	return took
}

// TestUnmarkedDescendant kills the shim above a daemon that cleared its environment. Where the level
// of tree_kill is enforced, the daemon ends. Where it is advisory it may live on: the test ends it.
func TestUnmarkedDescendant(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			seconds := fmt.Sprintf("1000.%d", os.Getpid())
			job := scriptJob(t, f, "setsid env -i sleep "+seconds+" & echo on; sleep 1000", markOf(t, 0))
			job.Output = func(process.Chunk) {
				for len(asleep(seconds)) == 0 { // it has not cleared its environment yet
					time.Sleep(time.Millisecond)
				}
				id := alive(job.Mark)[0]
				for id != 0 && parentOf(t, id) != os.Getpid() {
					id = parentOf(t, id)
				}
				require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
			}
			exit, err := r.Run(t.Context(), job)
			require.ErrorIs(t, err, process.ErrLost)
			require.Equal(t, process.Lost, exit.Cause)
			left := append(asleep(seconds), alive(job.Mark)...)
			for _, pid := range left {
				require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			}
			if exit.Levels.Of(runtime.LimitTreeKill).Level == runtime.LevelEnforced {
				require.Empty(t, left)
			} else {
				t.Logf("tree_kill is advisory here: %d left", len(left))
			}
		})
	}
}

// asleep returns the processes of this host that sleep for so many seconds.
func asleep(seconds string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, d := range dirs {
		text, err := os.ReadFile(d)
		if err == nil && string(text) == "sleep\x00"+seconds+"\x00" {
			pid, _ := strconv.Atoi(strings.Split(d, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// startAgent starts a process of this program that runs a brood, and returns when it runs.
func startAgent(t *testing.T, f form, mark string) (*exec.Cmd, runtime.ProcessID) {
	t.Helper()
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "AMBIT_ACT=agent", "AMBIT_FORM="+f.name, "AMBIT_AGENT_MARK="+mark)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the agent said nothing")
	var id runtime.ProcessID
	require.NoError(t, json.Unmarshal(lines.Bytes(), &id))
	require.True(t, lines.Scan())
	require.Equal(t, "on", lines.Text())
	return c, id
}

// agent runs a brood and says which process it is, and that it runs.
func agent() {
	for _, f := range forms() {
		if f.name != os.Getenv("AMBIT_FORM") {
			continue
		}
		t := &testing.T{}
		r := f.open(t)
		job := scriptJob(t, f, brood, os.Getenv("AMBIT_AGENT_MARK"))
		job.Started = func(_ context.Context, id runtime.ProcessID) error {
			text, err := json.Marshal(id)
			fmt.Println(string(text))
			return err
		}
		job.Output = func(c process.Chunk) { fmt.Print(string(c.Data)) }
		_, err := r.Run(context.Background(), job)
		if !errors.Is(err, process.ErrLost) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	require.NoError(t, err)
	return parent
}
