package processes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestTrace: the tracer of an attempt is told of its process once that is recorded, and how it ended. One that
// panics, or wants to know nothing, changes nothing; a process that is not recorded is none.
// SEMANTICS 6.13.5
func TestTrace(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{Code: 9, Usage: runtime.ProcessUsage{PeakMemory: 7}}))
	c, a := b.attempt(t, "text", "{}")
	var told []any
	a.Started = func(context.Context, *journal.Process) error {
		told = append(told, "recorded")
		return nil
	}
	trace := &process.Trace{
		Started: func(r runtime.RunningProcess) { told = append(told, r.ID.PID, r.Attempt, r.Due) },
		Ended:   func(e *process.Summary) { told = append(told, e.Code, e.Usage.PeakMemory) },
	}
	_, err := c.Run(process.WithTrace(t.Context(), trace), a)
	require.ErrorContains(t, err, "code 9")
	assert.Equal(t, []any{"recorded", 1, 1, a.Due, 9, int64(7)}, told)

	for _, of := range []*process.Trace{
		nil, {}, {Started: func(runtime.RunningProcess) { panic("no tracer") }, Ended: func(*process.Summary) { panic("no tracer") }},
	} {
		_, err = c.Run(process.WithTrace(t.Context(), of), a)
		require.ErrorContains(t, err, "code 9")
	}
	told = nil
	a.Started = func(context.Context, *journal.Process) error { return errors.New("the disk is full") }
	_, err = c.Run(process.WithTrace(t.Context(), trace), a)
	require.ErrorIs(t, err, process.ErrStarted)
	assert.Empty(t, told)
}
