package processes

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// How long recovery waits until nothing is left of the processes of earlier executors, all together, and
// how many it ends at once.
const (
	killTime = 10 * time.Second
	maxKills = 32
)

var errNoTime = errors.New("recovery had no time for it, because others did not end")

// A remnant is a process that an earlier executor recorded, and why something of it may still run; nil: nothing does.
type remnant struct {
	of  *history.Call
	p   journal.Process
	err error
}

// EndRecorded ends what earlier executors have left of the processes of calls, also of calls that have an
// outcome (SEMANTICS 6.7.8). It marks the calls of which something may still run, and reports why.
//
// What is in the spool now SweepSpool removes, but for that of processes that may still run.
func (s *Set) EndRecorded(ctx context.Context, calls []*history.Call, report func(*history.Call, error)) {
	s.left = s.marks()
	var all []*remnant
	for _, c := range calls {
		for _, p := range c.Processes {
			all = append(all, &remnant{of: c, p: p})
		}
	}
	s.endAll(ctx, all)
	for _, r := range all {
		if r.err == nil {
			r.of.Over = append(r.of.Over, r.p)
			continue
		}
		r.of.Runs = true
		delete(s.left, r.p.ID.Mark)
		report(r.of, fmt.Errorf("process %d of the call may still run: end it, and resolve the call: %w", r.p.ID.PID, r.err))
	}
}

// endAll ends processes, maxKills at once, and gives up after killTime.
func (s *Set) endAll(ctx context.Context, all []*remnant) {
	end := s.sched.Now().Add(killTime)
	var next atomic.Int64
	sched.Together(s.sched, make([]struct{}, min(len(all), maxKills)), func(struct{}) {
		for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
			all[i].err = errNoTime
			if left := end.Sub(s.sched.Now()); left > 0 {
				all[i].err = deadline.Call(s.sched, ctx, left, func(ctx context.Context) error { return s.Kill(ctx, all[i].p.ID) })
			}
		}
	})
}

// Ends returns the ends of the processes of a call of which recovery has found that nothing is left, each with what
// the spool has of it. The former executor did not see them, so their cause is process.Lost.
func (s *Set) Ends(c *history.Call) []End {
	var ends []End
	for _, p := range c.Over {
		e := &process.Exit{Code: -1, Cause: process.Lost, ID: p.ID, Levels: process.Enforcement{Tier: p.Tier}}
		stdout, stderr, err := s.Spooled(p.ID.Mark)
		if err == nil { // else it wrote nothing, or a crash of the host has damaged the file
			e.Stdout, e.Stderr = stdout, stderr
		}
		sum := e.Summary(runtime.ExitProcessKilled)
		for _, of := range []*process.StreamEnd{&sum.Stdout, &sum.Stderr} {
			if err != nil || of.Truncated { // not all of it was there to be hashed
				of.SHA256 = ""
			}
		}
		ends = append(ends, End{&journal.Process{ID: p.ID, Tier: p.Tier, Exit: sum}, e})
	}
	return ends
}

// An End is what is recorded of the end of a process, and its exit with what it wrote.
type End struct {
	Process *journal.Process
	Exit    *process.Exit
}
