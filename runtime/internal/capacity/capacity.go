// Package capacity bounds the calls that an executor works on at once, and those of each of its
// tools. A [Place] is what one call holds of them: it knows what to give back, and gives it back once.
package capacity

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

const (
	// QueueFactor is how many calls may wait for each slot of a tool that does not declare
	// limits.queue (SEMANTICS 6.3).
	QueueFactor = 4
	// leastRetry is the smallest Detail.RetryAfter of an at_capacity outcome.
	leastRetry = time.Second
)

// A Capacity counts the calls that an executor works on, from their arrival until their handler has
// returned or they wait for consent. A handler that outlives its call counts as long as it runs, so
// that the count bounds goroutines. Open has to be called before the first use.
type Capacity struct {
	Gate sched.Gate // of the executor: shut when it takes no more calls

	sched    *sched.Scheduler
	limit    int64
	inFlight atomic.Int64
	refused  atomic.Uint64
	slots    []sched.Slots // by position in the registry
	shared   func(tool int) *sched.Slots
	registry []tools.Tool
	queued   *atomic.Int64 // calls that wait for a slot
}

// Open sets how many calls may be in flight, and the limits of each tool. Calls that wait for a slot
// are counted in queued. shared returns the slots that a tool shares with other tools, nil: none. A call takes
// one once it has the slot of its tool.
func (c *Capacity) Open(s *sched.Scheduler, limit int, registry []tools.Tool, queued *atomic.Int64, shared func(tool int) *sched.Slots) {
	c.shared = shared
	c.sched, c.limit, c.slots = s, int64(limit), make([]sched.Slots, len(registry))
	c.registry, c.queued = registry, queued
	for i, t := range registry {
		limits := t.Spec.Limits
		queue := cmp.Or(limits.Queue, QueueFactor*limits.Concurrency) // NoQueue is negative
		c.slots[i].Open(limits.Concurrency, max(queue, 0))
		c.slots[i].CountIn(queued)
		if of := shared(i); of != nil {
			of.CountIn(queued)
		}
	}
}

// InFlight returns how many calls are in flight.
func (c *Capacity) InFlight() int { return int(c.inFlight.Load()) }

// Refused returns how many calls exceeded the capacity.
func (c *Capacity) Refused() uint64 { return c.refused.Load() }

// Measure stores the figures of c in s. It visits the tools only while calls wait for a slot.
func (c *Capacity) Measure(s *runtime.Stats) {
	s.InFlight, s.AtCapacity, s.Queued = c.InFlight(), c.Refused(), int(c.queued.Load())
	if s.Queued == 0 {
		return
	}
	s.Queues = map[string]int{}
	for i := range c.slots {
		if n := c.slots[i].Waiting(); n > 0 {
			s.Queues[c.registry[i].Spec.Name] = n
		}
	}
}

// Place returns the place of a new call, which holds nothing yet. tool is nil when there is no tool of
// that name.
func (c *Capacity) Place(tool *tools.Tool) Place {
	p := Place{capacity: c, tool: tool}
	if tool != nil {
		p.shared = c.shared(tool.Index)
	}
	return p
}

// A Place is what one call holds of a Capacity. One goroutine at a time may use it.
type Place struct {
	capacity *Capacity
	tool     *tools.Tool  // nil: there is none of that name
	granted  *sched.Event // fires when the call has a slot; nil: it does not wait for one
	run      *sched.Gate  // of the run; nil: the call is not counted in the gates
	slot     bool         // holds a slot of its tool
	shared   *sched.Slots // of which it needs one, too; nil: it needs none
	second   bool         // holds, or waits for, one of shared
	counted  bool         // is in flight
}

// Enter counts the call among the calls in flight. It returns the outcome of a call that exceeds the
// capacity, nil otherwise (SEMANTICS 6.3). name is that of the tool.
func (p *Place) Enter(name string) *runtime.Outcome {
	c := p.capacity
	if c.inFlight.Add(1) > c.limit {
		c.inFlight.Add(-1)
		c.refused.Add(1)
		out := outcomes.ExecutorBusy(name, c.limit, leastRetry)
		return &out
	}
	p.counted = true
	if p.tool == nil {
		return nil
	}
	if slots := p.slots(); !slots.Enter() && !p.tool.Recorded {
		p.Leave()
		c.refused.Add(1)
		out := outcomes.ToolBusy(name, slots.Most(), slots.RetryAfter())
		return &out
	}
	return nil
}

// Reenter counts a call that was admitted before, or is only evaluated beside itself, regardless of the limits.
func (p *Place) Reenter() {
	p.counted = true
	p.capacity.inFlight.Add(1)
	if p.tool != nil {
		p.slots().Enter()
	}
}

// Leave undoes Enter and Reenter, once.
func (p *Place) Leave() {
	if !p.counted {
		return
	}
	p.counted = false
	p.capacity.inFlight.Add(-1)
	if p.tool != nil {
		p.slots().Leave()
	}
}

// A Shut says which gate is shut.
type Shut uint8

// The gates of a call.
const (
	None     Shut = iota // both let it in
	Executor             // the executor shuts down
	Run                  // the run is closed
)

// EnterGates counts the call in the gates of its executor and of its run, or in neither when one of
// them is shut.
func (p *Place) EnterGates(run *sched.Gate) Shut {
	if !p.capacity.Gate.Enter() {
		return Executor
	}
	if !run.Enter() {
		p.capacity.Gate.Leave()
		return Run
	}
	p.run = run
	return None
}

// RequestSlot queues the call for a slot of its tool, and calls then in the same step: calls get
// slots in the order in which then is called for them.
func (p *Place) RequestSlot(then func()) {
	slots := p.slots()
	if p.tool.Recorded { // it began when it was recorded to
		then()
		return
	}
	if !slots.Limited() {
		then()
		p.requestShared()
		return
	}
	slots.AcquireThen(func(wait *sched.Event) {
		p.granted, p.slot = wait, wait == nil
		then()
	})
	if p.slot {
		p.requestShared()
	}
}

// requestShared queues the call for a slot that its tool shares with other tools, if it needs one (SEMANTICS
// 6.3.9).
func (p *Place) requestShared() {
	if p.shared != nil {
		p.granted, p.second = p.shared.Acquire(), true
	}
}

// Granted returns the event that fires when the call has the slot that it requested. It is nil when
// the call does not wait for one. After Take it may wait for another.
func (p *Place) Granted() *sched.Event { return p.granted }

// Take takes the slot once Granted has fired.
func (p *Place) Take() {
	p.granted = nil
	if !p.second {
		p.slot = true
		p.requestShared()
	}
}

// Limited reports whether the tool has a limit for its calls, of its own or shared.
func (p *Place) Limited() bool { return p.shared != nil || p.slots().Limited() }

// Overdue returns the outcome of a call of the tool that waited for a slot until its time was over.
func (p *Place) Overdue(name string) runtime.Outcome {
	if p.second {
		return outcomes.NoProcess(name, p.shared.RetryAfter())
	}
	return outcomes.NoSlot(name, p.tool.Spec.Limits.Concurrency, p.RetryAfter())
}

// RetryAfter returns after what time a slot of the tool is likely to be free.
func (p *Place) RetryAfter() time.Duration { return p.slots().RetryAfter() }

// Release releases all that the call holds. now returns the time, and began is when the call began to
// use its slot.
func (p *Place) Release(now func() time.Time, began time.Time) {
	c := p.capacity
	switch {
	case p.second && p.granted != nil:
		p.shared.CancelWait(p.granted, c.sched)
	case p.second:
		p.shared.ReleaseAfter(now().Sub(began), c.sched)
	case p.granted != nil:
		p.slots().CancelWait(p.granted, c.sched)
	}
	p.granted, p.second = nil, false
	if p.slot {
		p.slots().ReleaseAfter(now().Sub(began), c.sched)
		p.slot = false
	}
	p.Leave()
	if p.run != nil {
		p.run.Leave()
		c.Gate.Leave()
		p.run = nil
	}
}

// slots returns the slots of the tool, which exists.
func (p *Place) slots() *sched.Slots { return &p.capacity.slots[p.tool.Index] }

// EnterForUndo admits an undo that a shutdown waits for, because the undo must be recorded. It refuses an undo that is
// recorded once the executor is shut. Without a journal there is nothing to record, and it admits every undo.
func (c *Capacity) EnterForUndo(recorded bool) bool {
	if c.Gate.Enter() {
		return true
	}
	if recorded {
		return false
	}
	c.Gate.Force()
	return true
}
