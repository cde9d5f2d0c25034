package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/proc"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// ErrElsewhere is the error of Kill for a process that was recorded in another namespace of
// pids. It has ended if the container has that it ran in.
var ErrElsewhere = errors.New("isolate: the process belongs to another namespace of pids, where this process cannot see it")

// Kill implements process.Runner. It ends what is still the recorded process, then what its
// mark is found in: without namespaces descendants outlive the shim.
func (r *Runner) Kill(ctx context.Context, id runtime.ProcessID) error {
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
	below := proc.Descendants(id.PID) // before it is killed: then they belong to another process
	starts := make([]string, len(below))
	for i, pid := range below {
		starts[i] = proc.StartOf(pid)
	}
	gone, err := proc.Kill(ctx, id.PID, func() bool { return proc.StartOf(id.PID) == id.Start })
	if err != nil || gone && id.Mark == "" {
		return err
	}
	if !gone {
		for i, pid := range below {
			if _, err := proc.Kill(ctx, pid, func() bool { return starts[i] != "" && proc.StartOf(pid) == starts[i] }); err != nil {
				return err
			}
		}
	}
	if id.Mark == "" {
		return nil
	}
	return proc.KillMarked(ctx, process.MarkVariable+"="+id.Mark)
}
