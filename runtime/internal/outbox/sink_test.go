package outbox_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A sinkFunc is a sink.
type sinkFunc func(*runtime.Event) error

func (f sinkFunc) Emit(ev *runtime.Event) error { return f(ev) }

// TestSink: a MemorySink has an event at once, and another sink when it takes it; faults name the event.
func TestSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		var memory runtime.MemorySink
		fails := errors.New("it fails")
		var got, failed []uint64
		var direct, queued outbox.Sink
		report := func(err error) { t.Error(err) }
		on := func(_ runtime.Sink, ev *runtime.Event, err error) {
			assert.ErrorIs(t, err, fails)
			failed = append(failed, ev.Seq)
		}
		direct.Open(&memory, &s, report, on)
		queued.Open(sinkFunc(func(ev *runtime.Event) error {
			got = append(got, ev.Seq)
			if ev.Seq == 2 {
				return fails
			}
			return nil
		}), &s, report, on)
		for seq := range uint64(3) {
			ev := runtime.Event{Seq: seq + 1}
			direct.Emit(&ev)
			assert.Len(t, memory.Events(), int(seq)+1)
			queued.Emit(&ev)
		}
		assert.Nil(t, direct.Drained())
		await(&s, queued.Drained())
		assert.Equal(t, []uint64{1, 2, 3}, got)
		assert.Equal(t, []uint64{2}, failed)
	})
}
