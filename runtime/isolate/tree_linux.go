package isolate

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime/process"
)

// A tree is what the processes of a box use: those that were reaped, and those that live.
type tree struct {
	done, live process.Usage
	scratch    int64 // bytes in the private folder, where no file system bounds it
}

// add adds a reaped process and its reaped children.
func (t *tree) add(u *syscall.Rusage) {
	t.done.User += time.Duration(u.Utime.Nano())
	t.done.System += time.Duration(u.Stime.Nano())
	t.done.ReadBytes += int64(u.Inblock) * 512
	t.done.WriteBytes += int64(u.Oublock) * 512
	t.done.PeakMemory = max(t.done.PeakMemory, int64(u.Maxrss)<<10)
}

func (t *tree) total() process.Usage {
	u := t.done
	u.User += t.live.User
	u.System += t.live.System
	u.Memory, u.Processes = t.live.Memory, t.live.Processes
	return u
}

// look sees memory, processes and CPU of the tree, and returns the limit that they exceed.
func (p *initProcess) look() process.LimitName {
	var now process.Usage
	for _, pid := range p.processes() {
		s := statusOf(pid)
		now.Memory += s.memory
		now.Processes += s.tasks
		now.User += s.user
		now.System += s.system
	}
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
		return process.Memory
	case p.box.Processes > 0 && now.Processes > p.box.Processes:
		return process.Processes
	case p.box.TreeCPU > 0 && total.User+total.System > p.box.TreeCPU:
		return process.CPU
	case !p.box.Namespaces && p.box.Scratch > 0 && p.tree.scratch > p.box.Scratch:
		return process.Scratch
	}
	return ""
}

// slowLook sees what costs more to look at: the private folder, where it is on a disk.
func (p *initProcess) slowLook() {
	if p.box.Namespaces || p.box.Scratch == 0 {
		return
	}
	var sum int64
	_ = filepath.WalkDir(p.box.Private, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	p.tree.scratch = sum
}

// processes returns all processes of the box but init.
func (p *initProcess) processes() (all []int) {
	if !p.box.Namespaces {
		return descendants(os.Getpid())
	}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && pid != 1 {
			all = append(all, pid)
		}
	}
	return all
}

// descendants returns the processes below one.
func descendants(pid int) (all []int) {
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(queue[0]) + "/task/*/children")
		for _, t := range tasks {
			text, _ := os.ReadFile(t)
			for _, f := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(f); err == nil {
					all, queue = append(all, child), append(queue, child)
				}
			}
		}
	}
	return all
}

// A status is what /proc says of a process that lives.
type status struct {
	memory       int64 // bytes that no file backs
	tasks        int
	user, system time.Duration
}

func statusOf(pid int) (s status) {
	dir := "/proc/" + strconv.Itoa(pid)
	text, _ := os.ReadFile(dir + "/status")
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "RssAnon", "RssShmem":
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			s.memory += n << 10
		case "Threads":
			s.tasks, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	fields := statFields(pid)
	if len(fields) > 14 { // the fields 14 to 17 of proc(5): of the process and of its reaped children
		ticks := func(i int) time.Duration {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			return time.Duration(n) * (time.Second / 100)
		}
		s.user, s.system = ticks(11)+ticks(13), ticks(12)+ticks(14)
	}
	return s
}

// statFields returns the fields of /proc/PID/stat from the third on.
func statFields(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	name := strings.LastIndex(string(text), ") ") // the name before it may hold any bytes
	if name < 0 {
		return nil
	}
	return strings.Fields(string(text[name+2:]))
}

// startOf returns when a process started, in ticks since the boot; empty when it is gone.
func startOf(pid int) string {
	if fields := statFields(pid); len(fields) > 19 {
		return fields[19]
	}
	return ""
}
