package isolate_test

import (
	"context"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// TestStale stops init of a box: after a minute without a report the box is ended.
func TestStale(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			ticks, over := make(chan time.Time), make(chan struct{})
			r.CountSeconds(ticks)
			job := scriptJob(t, f, "echo on; sleep 1000", markOf(t, 0))
			var init int
			job.Started = func(_ context.Context, id runtime.ProcessID) error { init = id.PID; return nil }
			job.Output = func(process.Chunk) {
				_ = syscall.Kill(init, syscall.SIGSTOP)
				go func() {
					for {
						select {
						case ticks <- time.Time{}:
						case <-over:
							return
						}
					}
				}()
			}
			exit, err := r.Run(t.Context(), job)
			close(over)
			require.NoError(t, err)
			require.Equal(t, process.Stale, exit.Cause)
			require.True(t, exit.Killed())
			require.Equal(t, "on\n", string(exit.Stdout.Head))
			require.Empty(t, alive(job.Mark))
		})
	}
}

// TestPatience: each report of init begins the minute anew, so that a box which reports is never
// stale however long it runs.
func TestPatience(t *testing.T) {
	f := forms()[2]
	r := f.open(t)
	ticks, beats := make(chan time.Time), make(chan struct{}, 1)
	r.CountSeconds(ticks)
	job := scriptJob(t, f, "read line; exit 3", markOf(t, 0))
	input, feed := io.Pipe()
	job.Stdin = input
	job.Beat = func(runtime.ProcessUsage) {
		select {
		case beats <- struct{}{}:
		default:
		}
	}
	go func() {
		for range 3 { // a burst may be late by one beat: two of them are less than the patience
			<-beats
			for range isolate.Patience/2 - 1 {
				ticks <- time.Time{}
			}
			select {
			case <-beats: // it came within the burst
			default:
			}
		}
		feed.Close()
	}()
	exit, err := r.Run(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, process.Exited, exit.Cause)
	require.Equal(t, 3, exit.Code)
}
