package outbox

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A Sink delivers events to one sink of the application. A MemorySink takes them without the queue.
type Sink struct {
	Outbox[runtime.Event, lockorder.Sink]
	sink   runtime.Sink
	memory *runtime.MemorySink // takes events directly, without the queue
	failed func(runtime.Sink, *runtime.Event, error)
}

// Open sets up the delivery to s. report takes the faults of the queue, failed those of the sink.
func (q *Sink) Open(s runtime.Sink, on *sched.Scheduler, report func(error), failed func(runtime.Sink, *runtime.Event, error)) {
	q.sink, q.failed = s, failed
	q.memory, _ = s.(*runtime.MemorySink)
	q.Outbox.Open(on, Receiver[runtime.Event]{
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
			report(fmt.Errorf("sink %T takes no events: %d wait for it, and what comes is dropped", s, MaxQueued))
		},
	})
}

// Emit delivers or queues ev. The caller holds a lock, so that events come in order.
func (q *Sink) Emit(ev *runtime.Event) {
	if q.memory == nil {
		q.Add(ev)
		return
	}
	if err := q.memory.Emit(ev); err != nil {
		q.failed(q.sink, ev, err)
	}
}
