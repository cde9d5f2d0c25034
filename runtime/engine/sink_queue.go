package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A sinkQueue delivers events to one sink.
type sinkQueue struct {
	outbox.Outbox[runtime.Event, lockorder.Sink]
	sink   runtime.Sink
	memory *runtime.MemorySink // takes events directly, without the queue
	failed func(runtime.Sink, *runtime.Event, error)
}

// open sets up the queue of a sink. report takes the faults of the queue, failed those of the sink.
func (q *sinkQueue) open(s runtime.Sink, on *sched.Scheduler, report func(error), failed func(runtime.Sink, *runtime.Event, error)) {
	q.sink, q.failed = s, failed
	q.memory, _ = s.(*runtime.MemorySink)
	q.Open(on, outbox.Receiver[runtime.Event]{
		Deliver: s.Emit,
		Failed:  func(ev *runtime.Event, err error) { failed(s, ev, err) },
		Missed: func(n uint64) runtime.Event {
			return runtime.Event{Time: on.Now(), Kind: runtime.EventSinkDropped, Dropped: n}
		},
		Full: func(n uint64) {
			if n > 0 {
				report(fmt.Errorf("sink %T takes events again: %d were dropped", s, n))
				return
			}
			report(fmt.Errorf("sink %T takes no events: %d wait for it, and what comes is dropped", s, outbox.MaxQueued))
		},
	})
}

// emit delivers or queues ev. The executor's lock of events is held.
func (q *sinkQueue) emit(ev *runtime.Event) {
	if q.memory == nil {
		q.Add(ev)
		return
	}
	if err := q.memory.Emit(ev); err != nil {
		q.failed(q.sink, ev, err)
	}
}
