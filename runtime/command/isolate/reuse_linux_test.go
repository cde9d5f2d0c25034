package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
)

// TestKillSparesAReusedPID forces the reuse of a pid, in a namespace of pids that the test makes:
// neither the process that has the pid now nor its children nor any other are killed.
func TestKillSparesAReusedPID(t *testing.T) {
	rounds := battery.Count(t, 2, 5)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "AMBIT_ACT=reuse", fmt.Sprint("AMBIT_ROUNDS=", rounds))
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN}, // in the namespaces: to mount /proc, and to choose a pid
	}
	out, err := c.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this host gives no namespace of pids, in which one could be chosen")
	}
	require.NoError(t, err, "%s", out)
	require.Equal(t, fmt.Sprintf("spared %d\n", rounds), string(out))
}

// reuse is init of a namespace: it gives the pid of a process that has ended to another one.
func reuse() error {
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	var rounds int
	if _, err := fmt.Sscan(os.Getenv("AMBIT_ROUNDS"), &rounds); err != nil {
		return err
	}
	t := &testing.T{}
	r := forms()[2].open(t)
	for i := range rounds {
		var id runtime.ProcessID
		job := scriptJob(t, forms()[2], "exit 0", fmt.Sprint("reuse-", i))
		job.Started = func(_ context.Context, p runtime.ProcessID) error { id = p; return nil }
		if _, err := r.Run(context.Background(), job); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // two ticks of the clock in which starts are counted
		before, err := innocents(id.PID)
		if err != nil {
			return err
		}
		if err := r.Kill(context.Background(), id); err != nil {
			return err
		}
		for _, pid := range before { // the parent has to be gone before its children end: it could take their statuses
			if err := unix.Kill(pid, unix.SIGTERM); err != nil {
				return fmt.Errorf("round %d: process %d: %w", i, pid, err)
			}
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.Signal() != syscall.SIGTERM {
				return fmt.Errorf("round %d: the innocent process %d was killed: %#x %w", i, pid, status, err)
			}
		}
	}
	fmt.Println("spared", rounds)
	return nil
}

// innocents starts a process with a pid, which has two children, and one beside it, and returns what the
// namespace has of processes then, but for this one.
func innocents(pid int) (all []int, err error) {
	if err := startAs(pid, "/bin/sh", "sh", "-c", "sleep 1000 & sleep 1000 & wait"); err != nil {
		return nil, fmt.Errorf("clone3 with the pid %d: %w", pid, err)
	}
	beside := &exec.Cmd{Path: "/bin/sleep", Args: []string{"sleep", "1000"}}
	if err := beside.Start(); err != nil {
		return nil, err
	}
	// A child that sh has forked is sh until it is sleep: it counts from then on, and once.
	var sleeping []int
	for len(sleeping) < 3 {
		time.Sleep(time.Millisecond)
		sleeping = named("sleep\x00")
	}
	all = append([]int{pid}, sleeping...) // the parent first
	if !slices.Contains(sleeping, beside.Process.Pid) {
		return nil, fmt.Errorf("the processes that sleep are %v, and %d is none of them", sleeping, beside.Process.Pid)
	}
	return all, nil
}

// named returns the processes whose arguments begin with a text.
func named(text string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, d := range dirs {
		line, err := os.ReadFile(d)
		if err == nil && len(line) > len(text) && string(line[:len(text)]) == text {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(d)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// startAs starts a program with a pid, by clone3 with set_tid, which package syscall does not have.
func startAs(pid int, program string, argv ...string) error {
	path, err := unix.BytePtrFromString(program)
	if err != nil {
		return err
	}
	args := make([]*byte, len(argv)+1)
	for i, a := range argv {
		if args[i], err = unix.BytePtrFromString(a); err != nil {
			return err
		}
	}
	tids := [1]int32{int32(pid)}
	how := cloneArgs{exitSignal: uint64(unix.SIGCHLD), setTID: uint64(uintptr(unsafe.Pointer(&tids[0]))), setTIDSize: 1}
	return cloneAndExecute(&how, unsafe.Sizeof(how), path, &args[0], &args[len(argv)])
}

// cloneArgs is struct clone_args of the kernel.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

// cloneAndExecute returns in the parent. Its child is a copy of this process with one thread: raw calls only, and
// none of the stack's growth.
//
//go:nosplit
//go:norace
func cloneAndExecute(how *cloneArgs, size uintptr, path *byte, argv, env **byte) error {
	pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(how)), size, 0)
	if e != 0 {
		return e
	}
	for pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(argv)), uintptr(unsafe.Pointer(env)))
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 127, 0, 0)
	}
	return nil
}
