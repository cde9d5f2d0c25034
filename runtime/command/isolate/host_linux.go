package isolate

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/proc"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/room"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

const self = "/proc/self/exe"

// readable are what every box may read.
var readable = []string{
	"/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/dev/urandom",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ssl/certs", "/etc/alternatives",
}

// devices are read and written.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full"}

// describe makes the box of a job.
func (r *Runner) describe(job *process.Job, levels process.Enforcement, private string) *box {
	spec, l := job.Spec, job.Spec.Limits
	b := &box{
		Argv: job.Argv, Env: job.Environment(private), Dir: job.Dir, Private: private,
		Sandbox: spec.Tier == runtime.TierSandbox, Namespaces: levels.Namespaces,
		Loopback: spec.Network == runtime.NetworkLoopback, Shared: l.SharedMemory,
		Read: slices.Concat(readable, spec.Reads), Write: spec.Caches, Devices: devices,
		Data: uint64(l.Memory), File: uint64(l.File), Files: uint64(l.Files), CPU: uint64((l.CPU + time.Second - 1) / time.Second),
		Tree: l.Memory, Scratch: l.Scratch, Processes: l.Processes, TreeCPU: l.CPU,
	}
	if spec.Workspace != "" {
		b.Read = append(b.Read, spec.Workspace)
	}
	if b.Dir == "" {
		b.Dir = private
	}
	if b.Namespaces {
		b.Read = append(b.Read, "/proc")
		b.Tasks = uint64(l.Processes)
	}
	if b.Loopback {
		b.Read = append(b.Read, "/etc/hosts")
	}
	return b
}

// lacks is an error where the host has too little left for the limits of a spec.
func (r *Runner) lacks(spec *process.Spec, levels process.Enforcement) error {
	if levels.Namespaces { // the private folder is in memory
		return room.Lacks(spec, "")
	}
	return room.Lacks(spec, r.folder)
}

func identify(pid int, mark string) (runtime.ProcessID, error) { return proc.Identify(pid, mark) }
