package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime/process"
)

// ErrElsewhere is the error of Kill for a process that was recorded in another namespace of
// pids. It has ended if the container has that it ran in.
var ErrElsewhere = errors.New("isolate: the process belongs to another namespace of pids, where this process cannot see it")

// Kill implements process.Runner. It ends what is still the recorded process, then what its
// mark is found in: without namespaces descendants outlive the shim.
func (r *Runner) Kill(ctx context.Context, id process.ProcessID) error {
	here, err := identify(os.Getpid(), "")
	if err != nil {
		return err
	}
	if id.Boot != here.Boot {
		return nil // all processes of another boot have ended
	}
	if id.Namespace != here.Namespace {
		return fmt.Errorf("%w: %d of %s", ErrElsewhere, id.PID, id.Namespace)
	}
	below := descendants(id.PID) // before it is killed: then they belong to another process
	starts := make([]string, len(below))
	for i, pid := range below {
		starts[i] = startOf(pid)
	}
	gone, err := kill(ctx, id.PID, func() bool { return startOf(id.PID) == id.Start })
	if err != nil || gone && id.Mark == "" {
		return err
	}
	if !gone {
		for i, pid := range below {
			if _, err := kill(ctx, pid, func() bool { return starts[i] != "" && startOf(pid) == starts[i] }); err != nil {
				return err
			}
		}
	}
	return sweepMarked(ctx, id.Mark)
}

// kill ends one process and waits for its end. It asks whether the pid is still that of the
// process after it holds a descriptor, which does not follow a reuse of the pid. gone is true
// when it is not.
func kill(ctx context.Context, pid int, same func() bool) (gone bool, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH || err == unix.EINVAL { // EINVAL: the pid is that of a thread
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("isolate: process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if !same() {
		return true, nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && err != unix.ESRCH {
		return false, fmt.Errorf("isolate: process %d: %w", pid, err)
	}
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
		if n > 0 || err != nil && err != unix.EINTR {
			return false, nil
		}
	}
	return false, fmt.Errorf("isolate: process %d has not ended: %w", pid, context.Cause(ctx))
}

// sweepMarked ends the processes of this user whose environment names a call, until there are
// none.
func sweepMarked(ctx context.Context, call string) error {
	if call == "" {
		return nil
	}
	entry := process.MarkVariable + "=" + call
	for round := 0; ctx.Err() == nil; round++ {
		found := false
		dirs, err := os.ReadDir("/proc")
		if err != nil {
			return fmt.Errorf("isolate: %w", err)
		}
		for _, d := range dirs {
			pid, err := strconv.Atoi(d.Name())
			if err != nil || !marked(pid, entry) {
				continue
			}
			found = true
			if _, err := kill(ctx, pid, func() bool { return marked(pid, entry) }); err != nil {
				return err
			}
		}
		if !found {
			return nil
		}
		time.Sleep(time.Duration(min(round, 10)) * time.Millisecond) // a child that was being forked
	}
	return fmt.Errorf("isolate: processes of %s are left: %w", call, context.Cause(ctx))
}

func marked(pid int, entry string) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(text), "\x00"), entry)
}
