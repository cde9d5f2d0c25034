package room

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// Lacks is a *process.LackError where the host has too little left for a limit that a declaration
// gives. A limit on which the declaration is silent is not looked at, and neither is the disk of a
// private folder, scratch, where that is empty.
func Lacks(spec *process.Spec, scratch string) error {
	for _, c := range []struct {
		what runtime.LimitName
		need int64
		left func() int64
	}{
		{runtime.LimitMemory, spec.Limits.Memory, freeMemory},
		{runtime.LimitProcesses, int64(spec.Limits.Processes), freeProcesses},
		{runtime.LimitScratch, spec.Limits.Scratch, func() int64 { return freeDisk(scratch) }},
	} {
		if _, declared := spec.Accepts[c.what]; !declared || c.what == runtime.LimitScratch && scratch == "" {
			continue
		}
		if have := c.left(); c.need > have {
			return &process.LackError{What: c.what, Need: c.need, Have: have}
		}
	}
	return nil
}

// freeMemory is the smaller of what the host has available and what the cgroups leave.
func freeMemory() int64 {
	free := int64(math.MaxInt64)
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			free = number(strings.TrimSuffix(strings.TrimSpace(value), " kB")) << 10
		}
	}
	return min(free, left("memory", "memory.max", "memory.current"), left("memory", "memory.limit_in_bytes", "memory.usage_in_bytes"))
}

func freeProcesses() int64 {
	text, _ := os.ReadFile("/proc/loadavg") // its fourth field is running/all
	used := int64(0)
	if f := strings.Fields(string(text)); len(f) > 3 {
		_, all, _ := strings.Cut(f[3], "/")
		used = number(all)
	}
	free := left("pids", "pids.max", "pids.current")
	for _, file := range []string{"/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max"} {
		if text, err := os.ReadFile(file); err == nil {
			free = min(free, number(strings.TrimSpace(string(text)))-used)
		}
	}
	return free
}

func freeDisk(dir string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return math.MaxInt64
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}

// left is what the cgroups of this process, and those above them, leave of a resource.
func left(controller, most, used string) int64 {
	free := int64(math.MaxInt64)
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(strings.TrimSpace(string(text))) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // id:controllers:path
		if len(f) < 3 || f[1] != "" && f[1] != controller {
			continue
		}
		root := filepath.Join("/sys/fs/cgroup", f[1])
		for path := f[2]; ; path = filepath.Dir(path) {
			limit, err1 := os.ReadFile(filepath.Join(root, path, most))
			now, err2 := os.ReadFile(filepath.Join(root, path, used))
			if value := strings.TrimSpace(string(limit)); err1 == nil && err2 == nil && value != "max" {
				free = min(free, number(value)-number(strings.TrimSpace(string(now))))
			}
			if path == "/" || path == "." {
				break
			}
		}
	}
	return free
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
