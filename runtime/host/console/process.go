package console

import (
	"fmt"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A shownProcess is a process that a call ran.
type shownProcess struct {
	PID, Attempt                   int
	Program, Hash, Argv, Tier, End string
	Started, Due                   moment // of its attempt; zero: not known
	Facts                          []string
}

// processesOf returns the processes of a call. Those of running have what they used at their last heartbeat.
func processesOf(list []journal.Process, running []runtime.RunningProcess) (shown []shownProcess) {
	for i := range list {
		p := &list[i]
		s := shownProcess{
			PID: p.ID.PID, Attempt: p.Attempt, Program: legible.Line(p.Program), Hash: p.SHA256, Argv: p.Argv, Tier: p.Tier.String(), End: "no end is recorded",
		}
		if !p.At.IsZero() {
			s.Started = momentOf(p.At)
		}
		if !p.Due.IsZero() {
			s.Due = momentOf(p.Due)
		}
		if p.Exit != nil {
			s.ended(p.Exit)
		}
		for k := range running {
			if running[k].ID == p.ID && p.Exit == nil {
				s.runs(&running[k])
			}
		}
		shown = append(shown, s)
	}
	return shown
}

// runs says that a process runs.
func (s *shownProcess) runs(r *runtime.RunningProcess) {
	s.End = "runs"
	if r.Seen.IsZero() {
		return
	}
	u := &r.Usage
	s.Facts = []string{
		fmt.Sprintf("CPU %s", took(u.User+u.System)), fmt.Sprintf("memory %d bytes, %d at most", u.Memory, u.PeakMemory),
		catalog.Count(u.Processes, "task"), "seen " + momentOf(r.Seen).Text,
	}
}

// ended says how a process ended.
func (s *shownProcess) ended(e *process.Summary) {
	s.End = fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		s.End = "ended by " + e.Signal
	}
	if e.Cause != process.Exited {
		s.End += ", " + e.Cause.String()
	}
	if e.Limit != "" {
		s.End += " (" + string(e.Limit) + ")"
	}
	s.Facts = []string{
		fmt.Sprintf("CPU %s", took(e.Usage.User+e.Usage.System)), fmt.Sprintf("memory %d bytes", e.Usage.PeakMemory),
		fmt.Sprintf("read %d bytes", e.Usage.ReadBytes), fmt.Sprintf("wrote %d bytes", e.Usage.WriteBytes),
		fmt.Sprintf("stdout %d bytes", e.Stdout.Size), fmt.Sprintf("stderr %d bytes", e.Stderr.Size),
	}
	for _, l := range e.Weaker {
		s.Facts = append(s.Facts, fmt.Sprintf("%s %s", l.Name, l.Level))
	}
}
