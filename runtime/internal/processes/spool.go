package processes

import (
	"io/fs"
	"sync"

	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/spool"
)

// spoolTo makes a job spool what it writes, from its first byte on, and returns what ends that. The files
// stay until Unspool. A spool that cannot be made, as on a full disk, is none: it is there for a
// crash, and the process runs without it.
func (s *Set) spoolTo(job *process.Job) (end func()) {
	if s.spool == "" {
		return func() {}
	}
	var files *spool.Spool
	begin := sync.OnceFunc(func() { files, _ = s.spool.Create(job.Mark, job.Spec.Limits.Output) })
	job.Spool = func(i process.Stream, b []byte) {
		if len(b) == 0 {
			return
		}
		if begin(); files != nil {
			files.Write(i, b)
		}
	}
	return func() {
		begin = func() {}
		if files != nil {
			_ = files.Close()
		}
	}
}

// Spooled returns what a process of an earlier executor wrote, by the mark that was recorded with it. The
// error is fs.ErrNotExist where it wrote nothing.
func (s *Set) Spooled(mark string) (stdout, stderr process.Output, err error) {
	if s.spool == "" {
		return stdout, stderr, fs.ErrNotExist
	}
	return s.spool.Read(mark)
}

// Unspool removes what a process wrote, once its end is durable in the journal.
func (s *Set) Unspool(mark string) {
	if s.spool != "" {
		_ = s.spool.Remove(mark) // the next start sweeps
	}
}

// marks returns the marks of the processes that are in the spool.
func (s *Set) marks() map[string]bool {
	all := map[string]bool{}
	if s.spool != "" {
		_ = s.spool.Sweep(func(mark string) bool { // a folder that cannot be read has no mark: SweepSpool says so
			all[mark] = true
			return true
		})
	}
	return all
}

// SweepSpool removes what EndRecorded found in the spool, at the end of recovery: processes of this executor may run.
func (s *Set) SweepSpool() error {
	if s.spool == "" {
		return nil
	}
	return s.spool.Sweep(func(mark string) bool { return !s.left[mark] })
}
