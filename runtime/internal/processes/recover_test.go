package processes_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// A slow is a runner that takes a time to end each process.
type slow struct {
	*runtimetest.FakeRunner
	took      func(pid int) time.Duration
	now, most atomic.Int64 // processes that it ends
	asked     atomic.Int64
}

func (s *slow) Kill(ctx context.Context, id runtime.ProcessID) error {
	s.asked.Add(1)
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
	}
	select {
	case <-time.After(s.took(id.PID)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestEndsTogether: recovery ends the processes of earlier executors together, 32 at once, and waits 10 s for all. It
// says of each that it did not end, or that there was no time for it.
// SEMANTICS 6.7.11
func TestEndsTogether(t *testing.T) {
	for _, row := range []struct {
		name               string
		count              int
		took               func(pid int) time.Duration
		waits              time.Duration
		most, asked, ended int
	}{
		{"each takes a second", 30, func(int) time.Duration { return time.Second }, time.Second, 30, 30, 30},
		{"more than at once", 70, func(int) time.Duration { return time.Second }, 3 * time.Second, 32, 70, 70},
		{"one hangs", 70, func(pid int) time.Duration {
			if pid == 1 {
				return time.Hour
			}
			return time.Second
		}, 10 * time.Second, 32, 70, 69},
		{"all hang", 40, func(int) time.Duration { return time.Hour }, 10 * time.Second, 32, 32, 0},
		{"none", 0, nil, 0, 0, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, nil)
			runner := &slow{FakeRunner: b.runner, took: row.took}
			synctest.Test(t, func(t *testing.T) {
				set, err := processes.Open(declared(t), new(sched.Scheduler), b.config(runner))
				require.NoError(t, err)
				var calls []*history.Call
				for i := range row.count {
					calls = append(calls, &history.Call{ID: fmt.Sprint(i), Processes: []journal.Process{{ID: runtime.ProcessID{PID: i + 1}}}})
				}
				var reported []string
				from := time.Now()
				set.EndRecorded(t.Context(), calls, func(c *history.Call, err error) {
					reported = append(reported, c.ID)
					assert.ErrorContains(t, err, "may still run: end it, and resolve the call")
				})
				assert.Equal(t, row.waits, time.Since(from))
				assert.EqualValues(t, row.most, runner.most.Load())
				assert.EqualValues(t, row.asked, runner.asked.Load())
				over := 0
				var runs []string
				for _, c := range calls {
					over += len(c.Over)
					if c.Runs {
						runs = append(runs, c.ID)
					}
				}
				assert.Equal(t, row.ended, over)
				assert.Equal(t, runs, reported, "in their order")
				synctest.Wait()
			})
		})
	}
}
