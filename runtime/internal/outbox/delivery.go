package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// A Delivery gives events to sinks, outcomes to observers and faults to the error handler, none of
// which holds up the caller. The exported fields are set
// before Open, which is called before the other methods. These are safe for concurrent use.
type Delivery struct {
	Sinks     []runtime.Sink
	Observers []func(runtime.CallInfo, runtime.Outcome)
	OnFault   func(*action.CallError) // the error handler; nil: there is none

	sched     *sched.Scheduler
	queues    []Sink // of Sinks
	faults    Outbox[*action.CallError, lockorder.Faults]
	observing sched.Count // counts the goroutines that call observers

	emitting lockorder.Mutex[lockorder.Events] // sinks get one event at a time, in the order of Seq
	event    runtime.Event                     // the latest one, in memory that all events share
	seq      uint64                            // of the latest numbered event
}

var errDropped = errors.New("faults were dropped")

// Open opens the queues.
func (d *Delivery) Open(s *sched.Scheduler) {
	d.sched, d.queues = s, make([]Sink, len(d.Sinks))
	for i, sink := range d.Sinks {
		d.queues[i].Open(sink, s, func(err error) { d.Report(&action.CallError{Err: err}) }, d.sinkFailed)
	}
	d.faults.Open(s, Receiver[*action.CallError]{
		Deliver: func(f **action.CallError) error {
			d.OnFault(*f)
			return nil
		},
		Failed: func(**action.CallError, error) {}, // a fault of the error handler has no receiver
		Missed: func(n uint64) *action.CallError {
			return &action.CallError{Err: fmt.Errorf("%w because the error handler did not return: %d", errDropped, n)}
		},
		Full: func(uint64) {},
	})
}

// sinkFailed reports the fault of a sink.
func (d *Delivery) sinkFailed(s runtime.Sink, ev *runtime.Event, err error) {
	d.Report(&action.CallError{
		Tool: ev.Tool, CallID: ev.CallID, SessionID: ev.SessionID, RunID: ev.RunID,
		Err: fmt.Errorf("sink %T, event %d: %w", s, ev.Seq, err),
	})
}

// Report passes a fault to the error handler, if there is one. It does not wait for it.
func (d *Delivery) Report(f *action.CallError) {
	if d.OnFault != nil {
		addStack(f)
		d.faults.Add(&f)
	}
}

// addStack gives a fault the stack of the panic that its error wraps.
func addStack(f *action.CallError) {
	err := f.Err
	for range 8 { // what the engine wraps around it
		switch e := err.(type) {
		case *usercode.Panicked:
			if f.Stack == nil {
				f.Stack = e.Stack
			}
			return
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return
		}
	}
}

// HasSinks reports whether there is a sink.
func (d *Delivery) HasSinks() bool { return len(d.queues) > 0 }

// Begin locks the events and returns the next one, which has only its number yet. Deliver gives it
// to the sinks, End lets the next event begin. The caller may change Seq: the event after it has the
// next number, and the same number as this one when Seq is 0.
func (d *Delivery) Begin() *runtime.Event {
	d.emitting.Lock()
	d.event = runtime.Event{Seq: d.seq + 1}
	return &d.event
}

// Deliver gives the event that has begun to the sinks, which get a copy (SEMANTICS 2.1).
func (d *Delivery) Deliver() {
	for i := range d.queues {
		d.queues[i].Emit(&d.event)
	}
}

// End ends what Begin has begun.
func (d *Delivery) End() {
	if d.event.Seq != 0 {
		d.seq = d.event.Seq
	}
	d.emitting.Unlock()
}

// Emit gives ev to the sinks, after it has set its number. It does nothing when ev is nil.
func (d *Delivery) Emit(ev *runtime.Event) {
	if ev == nil {
		return
	}
	next := d.Begin()
	defer d.End()
	ev.Seq = next.Seq
	*next = *ev
	d.Deliver()
}

// EmitAs gives ev, unless it is nil, to the sinks with the number that number returns. number adds the entry
// of the event to the journal, so that entries and events of several goroutines have one order.
func (d *Delivery) EmitAs(ev *runtime.Event, number func() uint64) uint64 {
	if ev == nil {
		return number()
	}
	next := d.Begin()
	defer d.End()
	*next = *ev
	next.Seq = number()
	d.Deliver()
	return next.Seq
}

// Flush returns when all that happened before is delivered and taken, or when ctx ends. In the
// second case the error says how much is not.
func (d *Delivery) Flush(ctx context.Context) error {
	if d.flush(nil, ctx.Done()) {
		return nil
	}
	return fmt.Errorf("%w: %w", d.undelivered(), context.Cause(ctx))
}

// Drain is Flush, limited to a time.
func (d *Delivery) Drain(within time.Duration) error {
	late := sched.NewEvent()
	t := d.sched.After(within, func() { d.sched.Fire(late) })
	defer t.Stop()
	if d.flush(late, nil) {
		return nil
	}
	return d.undelivered()
}

// flush waits until all is delivered. It returns false if late fires or done is closed first.
// Either may be nil.
func (d *Delivery) flush(late *sched.Event, done <-chan struct{}) bool {
	if idle := d.observing.Idle(); idle != nil && d.sched.Wait(idle, late, done) != sched.First {
		return false
	}
	for i := range d.queues {
		if drained := d.queues[i].Drained(); drained != nil && d.sched.Wait(drained, late, done) != sched.First {
			return false
		}
	}
	drained := d.faults.Drained() // sinks and observers may have added some
	return drained == nil || d.sched.Wait(drained, late, done) == sched.First
}

// undelivered returns an error that counts what was not delivered.
func (d *Delivery) undelivered() error {
	var events uint64
	for i := range d.queues {
		_, waiting := d.queues[i].Lost()
		events += waiting
	}
	_, faults := d.faults.Lost()
	return fmt.Errorf("%d events and %d faults wait for sinks and the error handler, and %d observers have not returned",
		events, faults, d.observing.Number())
}

// Dropped returns how many events and faults were dropped so far because their receivers were slow.
func (d *Delivery) Dropped() uint64 {
	sum, _ := d.faults.Lost()
	for i := range d.queues {
		n, _ := d.queues[i].Lost()
		sum += n
	}
	return sum
}
