package runtime

import "time"

// A ProcessID identifies a process across reboots and reuse of pids.
type ProcessID struct {
	PID       int    `json:"pid"`
	Start     string `json:"start"`               // in ticks since the boot, as the system counts
	Boot      string `json:"boot,omitempty"`      // the id of the boot
	Namespace string `json:"namespace,omitempty"` // of pids, in which PID is one
	Mark      string `json:"mark,omitempty"`      // Job.Mark
}

// Usage is what the processes of a job have used. What a host does not tell is zero.
type ProcessUsage struct {
	User       time.Duration `json:"user,omitempty"`        // CPU time of all processes
	System     time.Duration `json:"system,omitempty"`      // likewise, in the kernel
	Memory     int64         `json:"memory,omitempty"`      // bytes, of the tree, when it was seen last
	PeakMemory int64         `json:"peak_memory,omitempty"` // bytes: the most of the tree, or of one process
	Processes  int           `json:"processes,omitempty"`   // processes and threads, when seen last
	ReadBytes  int64         `json:"read_bytes,omitempty"`  // from disks
	WriteBytes int64         `json:"write_bytes,omitempty"`
}

// A Running is a process that runs for a call, as its runner saw it last. It has nothing that the process
// was given or writes.
type RunningProcess struct {
	Session, Call string
	Attempt       int // of the call; the first one is 1
	Tool          string

	ID    ProcessID
	Since time.Time // when it was started
	Due   time.Time // when its attempt is over; zero: it has no end
	Seen  time.Time // when Usage was told; zero: not yet
	Usage ProcessUsage
}

// Add adds to u what a job that has ended, or that was seen last, has used: the sum of CPU time, bytes,
// and of the memory and the processes that there are; the larger of the peaks.
func (u *ProcessUsage) Add(other ProcessUsage) {
	u.User += other.User
	u.System += other.System
	u.Memory += other.Memory
	u.PeakMemory = max(u.PeakMemory, other.PeakMemory)
	u.Processes += other.Processes
	u.ReadBytes += other.ReadBytes
	u.WriteBytes += other.WriteBytes
}

// After returns u, seen after an earlier usage of the same job: what only grows is not less than it was.
// A watcher that was killed tells less at the end than it had told before.
func (u ProcessUsage) After(earlier ProcessUsage) ProcessUsage {
	u.User = max(u.User, earlier.User)
	u.System = max(u.System, earlier.System)
	u.PeakMemory = max(u.PeakMemory, earlier.PeakMemory)
	u.ReadBytes = max(u.ReadBytes, earlier.ReadBytes)
	u.WriteBytes = max(u.WriteBytes, earlier.WriteBytes)
	return u
}
