package proc

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Kill ends one process and waits for its end. It asks whether the pid is still that of the
// process after it holds a descriptor, which does not follow a reuse of the pid. gone is true
// when it is not.
func Kill(ctx context.Context, pid int, same func() bool) (gone bool, err error) {
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

// KillMarked ends the processes of this user whose environment has an entry, until there are none.
func KillMarked(ctx context.Context, entry string) error {
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
			if _, err := Kill(ctx, pid, func() bool { return marked(pid, entry) }); err != nil {
				return err
			}
		}
		if !found {
			return nil
		}
		time.Sleep(time.Duration(min(round, 10)) * time.Millisecond) // a child that was being forked
	}
	return fmt.Errorf("isolate: processes with %s are left: %w", entry, context.Cause(ctx))
}

func marked(pid int, entry string) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(text), "\x00"), entry)
}
