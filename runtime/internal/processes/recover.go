package processes

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/history"
)

// killTime is how long recovery waits until nothing is left of one process.
const killTime = 10 * time.Second

// EndRecorded ends what earlier executors have left of the processes of calls, also of calls that have an
// outcome (SEMANTICS 6.7.8). It marks those of which something may still run, and reports why.
//
// What is in the spool now SweepSpool removes, but for that of processes that may still run.
func (s *Set) EndRecorded(ctx context.Context, calls []*history.Call, report func(*history.Call, error)) {
	s.left = s.marks()
	for _, c := range calls {
		for _, p := range c.Processes {
			err := deadline.Call(s.sched, ctx, killTime, func(ctx context.Context) error { return s.Kill(ctx, p.ID) })
			if err != nil {
				c.Runs = true
				delete(s.left, p.ID.Mark)
				report(c, fmt.Errorf("process %d of the call may still run: end it, and resolve the call: %w", p.ID.PID, err))
			}
		}
	}
}
