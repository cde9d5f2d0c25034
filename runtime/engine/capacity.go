package engine

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

const (
	// DefaultMaxInFlight is how many calls an executor works on at once.
	DefaultMaxInFlight = 1024
	// queueFactor is how many calls may wait for each slot of a tool that does not
	// declare limits.queue.
	queueFactor = 4
	// leastRetry is the smallest Detail.RetryAfter of an at_capacity outcome.
	leastRetry = time.Second
)

// A capacity counts the calls that an executor works on, from their arrival until their
// handler has returned or they wait for consent. A handler that outlives its call
// counts as long as it runs, so that the count bounds goroutines.
type capacity struct {
	most    int64
	inside  atomic.Int64
	refused atomic.Uint64
}

// WithMaxInFlight sets how many calls the executor works on at once, 1,024 by default. The executor
// denies one more at_capacity at once, with Detail.RetryAfter, before the policy and the journal
// (SEMANTICS section 6.3). Calls that wait for consent do not count; handlers that have outlived
// their call do. The default is wrong when the calls in flight do not fit into memory, or when more
// callers than that share the executor and should wait instead of retrying.
func WithMaxInFlight(n int) Option {
	return func(e *Executor) { e.capacity.most = int64(n) }
}

// enterExecutor counts c among the calls in flight. It returns the outcome of a call
// that exceeds the capacity, nil otherwise.
func (c *call) enterExecutor() *runtime.Outcome {
	e := c.exec
	if e.capacity.inside.Add(1) > e.capacity.most {
		e.capacity.inside.Add(-1)
		return c.atCapacity(leastRetry, "the executor is busy: "+counted(e.capacity.most, "1 call is", "%d calls are")+" in flight")
	}
	c.inFlight = true
	if c.tool == nil {
		return nil
	}
	slot := &e.slots[c.index]
	if !slot.Enter() {
		c.leaveExecutor()
		return c.atCapacity(slot.RetryAfter(), fmt.Sprintf("%q is busy: %d of its calls run or wait", c.record.tool, slot.Most()))
	}
	return nil
}

// finishRefused sets the outcome of a call that exceeds the capacity. The session's lock is held.
func (c *call) finishRefused(out *runtime.Outcome) {
	out.CallID = c.id
	c.fillRunStatus(out)
	c.record.keep(out)
	c.exec.sched.Fire(&c.record.first)
}

// reenterExecutor counts c, which was admitted before, regardless of the limits.
func (c *call) reenterExecutor() {
	c.inFlight = true
	c.exec.capacity.inside.Add(1)
	c.exec.slots[c.index].Enter()
}

// leaveExecutor undoes enterExecutor.
func (c *call) leaveExecutor() {
	if !c.inFlight {
		return
	}
	c.inFlight = false
	c.exec.capacity.inside.Add(-1)
	if c.tool != nil {
		c.exec.slots[c.index].Leave()
	}
}

// atCapacity returns the outcome of a call that exceeds the capacity. No event is
// emitted for it, and its id can be used again.
func (c *call) atCapacity(retry time.Duration, why string) *runtime.Outcome {
	c.exec.capacity.refused.Add(1)
	return &runtime.Outcome{
		Tool: c.record.tool, Kind: runtime.Denied,
		Reason: runtime.ReasonAtCapacity, AllReasons: []runtime.Reason{runtime.ReasonAtCapacity},
		Detail:  runtime.Detail{RetryAfter: retry},
		Message: fmt.Sprintf("%s; make the call again in %s", why, seconds(retry)),
	}
}

// openSlots sets how many calls of a tool run at once, and how many may wait.
func openSlots(s *sched.Slots, limits runtime.Limits) {
	queue := cmp.Or(limits.Queue, queueFactor*limits.Concurrency) // NoQueue is negative
	s.Open(limits.Concurrency, max(queue, 0))
}

// Stats holds figures of an executor at one moment.
type Stats struct {
	InFlight   int    // calls that it works on, without those that wait for consent
	Lingering  int    // of these: handlers that still run although their call has ended
	AtCapacity uint64 // calls denied at_capacity so far
	Dropped    uint64 // events and faults that sinks and the error handler did not take in time, so far
}

// Stats returns figures of e. It is cheap, and safe for concurrent use.
func (e *Executor) Stats() Stats {
	if e == nil {
		return Stats{}
	}
	s := Stats{
		InFlight: int(e.capacity.inside.Load()), Lingering: int(e.lingering.Load()), AtCapacity: e.capacity.refused.Load(),
	}
	for _, q := range e.sinks {
		dropped, _ := q.lost()
		s.Dropped += dropped
	}
	dropped, _ := e.faults.lost()
	s.Dropped += dropped
	return s
}
