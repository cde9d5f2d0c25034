package isolate

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/proc"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/scratch"
)

// A tree is what the processes of a box use: those that were reaped, and those that live.
type tree struct {
	done, live runtime.ProcessUsage
	scratch    int64 // bytes in the private folder, where no file system bounds it
	shared     int64 // bytes of memory that processes share, with what none of them has touched
}

// add adds a reaped process and its reaped children. The last look may have seen them alive: until the
// next one nothing counts as used by those that live.
func (t *tree) add(u *syscall.Rusage) {
	t.live.User, t.live.System = 0, 0
	t.done.User += time.Duration(u.Utime.Nano())
	t.done.System += time.Duration(u.Stime.Nano())
	t.done.ReadBytes += int64(u.Inblock) * 512
	t.done.WriteBytes += int64(u.Oublock) * 512
	t.done.PeakMemory = max(t.done.PeakMemory, int64(u.Maxrss)<<10)
}

func (t *tree) total() runtime.ProcessUsage {
	u := t.done
	u.User += t.live.User
	u.System += t.live.System
	u.Memory, u.Processes = t.live.Memory, t.live.Processes
	return u
}

// look sees memory, processes and CPU of the tree, and returns the limit that they exceed.
func (p *initProcess) look() runtime.LimitName {
	var now runtime.ProcessUsage
	var shared int64
	for _, pid := range p.processes() {
		s := proc.StatusOf(pid)
		now.Memory += s.Private
		shared += s.Shared
		now.Processes += s.Tasks
		now.User += s.User
		now.System += s.System
	}
	now.Memory += max(shared, p.tree.shared)
	if p.box.Namespaces && p.box.Sandbox {
		var fs unix.Statfs_t
		if unix.Statfs(p.box.Private, &fs) == nil {
			now.Memory += int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize)
		}
	}
	p.tree.live = now
	p.tree.done.PeakMemory = max(p.tree.done.PeakMemory, now.Memory)
	total := p.tree.total()
	switch {
	case p.box.Tree > 0 && now.Memory > p.box.Tree:
		return runtime.LimitMemory
	case p.box.Processes > 0 && now.Processes > p.box.Processes:
		return runtime.LimitProcesses
	case p.box.TreeCPU > 0 && total.User+total.System > p.box.TreeCPU:
		return runtime.LimitCPU
	case !p.box.Namespaces && p.box.Scratch > 0 && p.tree.scratch > p.box.Scratch:
		return runtime.LimitScratch
	}
	return ""
}

// slowLook sees what costs more to look at: memory that processes share, and the private folder,
// where it is on a disk.
func (p *initProcess) slowLook() {
	p.tree.shared = proc.SharedMemory(p.processes(), p.box.Shared && p.box.Namespaces)
	if p.box.Namespaces || p.box.Scratch == 0 {
		return
	}
	p.tree.scratch = scratch.Size(p.box.Private)
}

// processes returns all processes of the box but init.
func (p *initProcess) processes() []int {
	if !p.box.Namespaces {
		return proc.Descendants(os.Getpid())
	}
	return proc.All()
}
