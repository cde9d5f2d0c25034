package process

import "time"

// A Running is a process that runs for a call, as its runner saw it last. It has nothing that the process
// was given or writes.
type Running struct {
	Session, Call string
	Attempt       int // of the call; the first one is 1
	Tool          string

	ID    ProcessID
	Since time.Time // when it was started
	Due   time.Time // when its attempt is over; zero: it has no end
	Seen  time.Time // when Usage was told; zero: not yet
	Usage Usage
}

// Add adds to u what a job that has ended, or that was seen last, has used: the sum of CPU time, bytes,
// and of the memory and the processes that there are; the larger of the peaks.
func (u *Usage) Add(other Usage) {
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
func (u Usage) After(earlier Usage) Usage {
	u.User = max(u.User, earlier.User)
	u.System = max(u.System, earlier.System)
	u.PeakMemory = max(u.PeakMemory, earlier.PeakMemory)
	u.ReadBytes = max(u.ReadBytes, earlier.ReadBytes)
	u.WriteBytes = max(u.WriteBytes, earlier.WriteBytes)
	return u
}
