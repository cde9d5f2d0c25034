package isolate

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

var self, _ = os.Executable()

var readable []string // there is no box

func (r *Runner) examine() *Host {
	h := thisHost()
	h.WhyNot = "the system is macOS, not Linux"
	return h
}

// lacks is nil: macOS does not tell what is left in a way that a start could go by.
func (r *Runner) lacks(*process.Spec, process.Enforcement) error { return nil }

// describe makes the box of a job.
func (r *Runner) describe(job *process.Job, _ process.Enforcement, private string) *box {
	l := job.Spec.Limits
	b := &box{
		Argv: job.Argv, Env: job.Environment(private), Dir: job.Dir, Private: private,
		Data: uint64(l.Memory), File: uint64(l.File), Files: uint64(l.Files), CPU: uint64((l.CPU + time.Second - 1) / time.Second),
	}
	if b.Dir == "" {
		b.Dir = private
	}
	return b
}

// identify says which process a pid is now.
func identify(pid int, mark string) (runtime.ProcessID, error) {
	boot, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return runtime.ProcessID{}, fmt.Errorf("isolate: %w", err)
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return runtime.ProcessID{}, fmt.Errorf("isolate: the process %d cannot be identified, so it is not started: %w", pid, err)
	}
	start := info.Proc.P_starttime
	return runtime.ProcessID{
		PID: pid, Mark: mark, Boot: strconv.FormatInt(boot.Sec, 10),
		Start: strconv.FormatInt(start.Sec, 10) + "." + strconv.FormatInt(int64(start.Usec), 10),
	}, nil
}

// Kill implements process.Runner. It ends the process group of the recorded process.
func (r *Runner) Kill(ctx context.Context, id runtime.ProcessID) error {
	for ctx.Err() == nil {
		now, err := identify(id.PID, id.Mark)
		if err != nil || now != id {
			return nil
		}
		if err := syscall.Kill(-id.PID, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			return fmt.Errorf("isolate: process %d: %w", id.PID, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("isolate: process %d has not ended: %w", id.PID, context.Cause(ctx))
}
