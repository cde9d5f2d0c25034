package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// WithCounter sets what counts the transitions of calls, such as metrics.Metrics.
func WithCounter(c runtime.Counter) Option {
	return func(e *Executor) { e.tally.Counter = c }
}

// WithTracer sets what makes a span of every call.
func WithTracer(t runtime.Tracer) Option {
	return func(e *Executor) { e.tally.Tracer = t }
}

// Stats returns figures of e. It visits no calls, and is safe for concurrent use.
func (e *Executor) Stats() runtime.Stats {
	if e == nil || e.engine == nil {
		return runtime.Stats{}
	}
	return runtime.Stats{
		InFlight: int(e.capacity.inFlight.Load()), Running: int(e.tally.Running.Load()), Queued: int(e.tally.Queued.Load()),
		Waiting: e.approvals.Len(), Lingering: int(e.lingering.Load()), Abandoned: e.evaluations.Abandoned(),
		LateResults: e.tally.LateResults(), AtCapacity: e.capacity.refused.Load(), Journal: e.log.Health(),
		Dropped: e.delivery.Dropped(),
	}
}

// openTally prepares the counts of e.
func (e *Executor) openTally() {
	e.tally.Report = func(err error) { e.report(&CallError{Err: err}) }
	for i := range e.slots {
		e.slots[i].CountIn(&e.tally.Queued)
	}
}

// counted returns a transition of c for the counter. c.mu is held once other goroutines know c.
func counted(c *call, kind runtime.EventKind, n *note) runtime.Transition {
	t := runtime.Transition{
		Kind: kind, Tool: c.index, Ended: n.ends, Outcome: n.kind, Reason: n.reason, Output: n.output, Dropped: n.dropped, Duration: n.at.Sub(c.began),
	}
	switch {
	case c.tool == nil:
		t.Tool = -1
	case n.ends:
		t.Times, t.Attempts = c.watch.Times(), c.life.Attempt()
		if a := c.record.artifact(); a != nil {
			t.Artifact = int64(a.Bytes)
		}
	case n.answer != nil:
		t.Resolution, t.Approved = n.answer.Result.Resolution, n.answer.Result.Approve
	case kind == runtime.EventInvoked:
		t.Input = c.size
	case n.undo != nil || kind == runtime.EventUndone:
		t.Duration = sinceAsked(c, n.at)
	}
	return t
}

// sinceAsked returns how long ago the undo of c was asked for, 0 when an earlier process was asked.
// The lock of the session is held.
func sinceAsked(c *call, now time.Time) time.Duration {
	if c.record.undo.asked.IsZero() {
		return 0
	}
	return now.Sub(c.record.undo.asked)
}

// trace begins the span of c, unless there is one. It calls code of the application: no lock is held.
func trace(c *call) {
	if c.exec.tally.Tracer == nil || c.span != nil {
		return
	}
	ctx, s := c.exec.tally.Start(c.ctx, runtime.CallInfoOf(c.Info()))
	c.mu.Lock()
	c.ctx, c.workCtx, c.span = ctx, ctx, s
	ended := c.life.Ended()
	c.mu.Unlock()
	if ended {
		endSpan(c)
	}
}

// endSpan ends the span of a call that has its outcome.
func endSpan(c *call) {
	if c.exec.tally.Tracer == nil {
		return
	}
	c.mu.Lock()
	s := c.span
	c.mu.Unlock()
	out := c.record.outcome()
	s.End(&out)
}
