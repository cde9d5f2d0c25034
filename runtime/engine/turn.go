package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A TurnConfig describes a Turn.
type TurnConfig struct {
	Budget      time.Duration // for all calls of the turn together; 0: none, negative: used up
	Cap         time.Duration // for each attempt of a call, where its tool declares a longer deadline; 0: none, negative: used up, as by Budget
	ConsentWait time.Duration // how long a caller waits for consent before its call is pending; 0: not at all
}

// A Turn is one message of the model and its calls. The zero value denies them.
type Turn struct {
	run      *Run
	ends     time.Time     // zero: no budget
	limit    time.Duration // of an attempt; 0: that of its tool
	patience time.Duration
	minimum  time.Duration // the part of the budget that a call needs to be admitted

	blocking atomic.Bool // blocked is not empty
	mu       sync.Mutex
	blocked  map[int]struct{} // positions of tools that timed out and must not run again in the turn
}

// Turn starts a turn of r. Its budget runs from now.
func (r *Run) Turn(cfg TurnConfig) *Turn {
	t := &Turn{run: r, patience: cfg.ConsentWait, limit: max(cfg.Cap, 0)}
	if cfg.Cap < 0 {
		cfg.Budget = cfg.Cap
	}
	if r == nil || r.session == nil {
		return t
	}
	t.minimum = r.session.exec.minimum
	if cfg.Budget != 0 {
		t.ends = r.session.exec.sched.Now().Add(cfg.Budget)
	}
	return t
}

// Execute carries out a call and returns its outcome. It never panics. It returns when the outcome
// is known: at the deadline at the latest, or as soon as ctx is done, whether or not the handler
// has returned.
//
// A call with the id and the arguments of an earlier call of the session is not run again: it gets
// the outcome of the earlier call, once that call has ended.
func (t *Turn) Execute(ctx context.Context, in runtime.Call) (out runtime.Outcome) {
	ctx = orBackground(ctx)
	switch c, earlier := t.begin(ctx, in, nil); {
	case c != nil:
		c.await(&out)
	case earlier != nil:
		out = earlier.await(ctx, t.run.session)
	default:
		out = noRun(in)
	}
	return out
}

// begin passes a call to a worker, unless it ends before or repeats an earlier call.
func (t *Turn) begin(ctx context.Context, in runtime.Call, b *batch) (c *call, earlier *callRecord) {
	if c, earlier = t.open(ctx, in, ctx.Done()); c == nil || earlier != nil {
		return nil, earlier
	}
	c.batch = b
	t.launch(c)
	return c, nil
}

// launch passes a new call to a worker, unless the call ends before.
func (t *Turn) launch(c *call) {
	if c.declare() {
		c.exec.workers.take(c)
	} else {
		c.depart()
	}
}

// advance takes a call through its remaining states. It runs in the goroutine of a worker, because
// policies and handlers may hang. In that case the timer or the caller ends the call, and the next
// step stops.
func (c *call) advance() {
	defer c.leave()
	if c.life.Rejudging() {
		_ = c.evaluateAgain() && c.restart() && c.attempts()
		c.returned = true
		return
	}
	_ = (c.resumed() || (c.readmits || c.validate()) && c.checkGates()) && // done already when the call waited for consent
		c.decide() &&
		(c.life.Attempt() > 0 || c.awaitSlot() && c.start()) && // unless it started in one step with its admission
		c.attempts()
	c.returned = true
}

// A Verdict is the result of WhatIf.
type Verdict struct {
	Runs     bool             // the handler would be started
	Outcome  runtime.Outcome  // the refusal, when the handler would not be started
	Decision runtime.Decision // of the policy; zero when it was not evaluated
	Input    []byte           // JSON of the arguments of the handler; nil when the input is invalid, or was not read
}

// WhatIf decides a call as Execute would, on the same path, and stops where the handler would be
// started. It changes nothing, emits no event, and neither checks nor uses the call's id.
func (t *Turn) WhatIf(ctx context.Context, in runtime.Call) Verdict {
	ctx = orBackground(ctx)
	c := t.newCall(ctx, in)
	if c == nil {
		return Verdict{Outcome: noRun(in)}
	}
	c.dry = true
	if refused := c.enterExecutor(); refused != nil {
		s := t.run.session
		s.mu.Lock()
		defer s.mu.Unlock()
		c.finishRefused(refused)
		return Verdict{Outcome: *refused}
	}
	t.launch(c)
	c.await(new(runtime.Outcome))
	return c.verdict()
}

// noRun returns the outcome of a call in a turn that belongs to no run.
func noRun(in runtime.Call) runtime.Outcome {
	return runtime.Outcome{
		CallID: in.ID, Tool: in.Tool, Kind: runtime.Denied,
		Reason: runtime.ReasonShuttingDown, AllReasons: []runtime.Reason{runtime.ReasonShuttingDown},
		Message: "no executor is running: calls are made in a turn of a run",
	}
}

// left returns how much of the budget is left at now; ok is false when the turn has no budget.
func (t *Turn) left(now time.Time) (d time.Duration, ok bool) {
	if t.ends.IsZero() {
		return 0, false
	}
	return t.ends.Sub(now), true
}

// block keeps the tool at position i from running until the turn ends.
func (t *Turn) block(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.blocked == nil {
		t.blocked = map[int]struct{}{}
	}
	t.blocked[i] = struct{}{}
	t.blocking.Store(true)
}

// blocks reports whether the tool at position i is blocked.
func (t *Turn) blocks(i int) bool { return t.blocking.Load() && t.isBlocked(i) }

// isBlocked is blocks when at least one tool is blocked.
func (t *Turn) isBlocked(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, blocked := t.blocked[i]
	return blocked
}
