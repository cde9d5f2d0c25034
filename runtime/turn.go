package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A TurnConfig describes a Turn.
type TurnConfig struct {
	Budget      time.Duration // for all calls of the turn together; 0: none, negative: used up
	Cap         time.Duration // for each attempt of a call, where its tool declares a longer deadline; 0: none, negative: used up, as by Budget
	ConsentWait time.Duration // how long a caller waits for somebody's consent before its call is pending; 0: not at all
}

// A Turn is one message of the model and its calls. The zero value refuses them.
type Turn struct {
	run      *Run
	ends     time.Time     // zero: no budget
	limit    time.Duration // of an attempt; 0: that of its tool
	patience time.Duration
	minimum  time.Duration // what of the budget a call must find

	blocking atomic.Bool // blocked is not empty
	mu       sync.Mutex
	blocked  map[int]struct{} // positions of tools that timed out for good
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
		t.ends = r.session.exec.now().Add(cfg.Budget)
	}
	return t
}

// A Call is what a model asks for.
type Call struct {
	ID       string // the caller's id, unique in the session; empty: one is made
	Tool     string
	Input    []byte            // JSON
	Metadata map[string]string // for the handler; not judged. It must not be changed

	Principal string // on whose behalf, as by Run.WithPrincipal; empty: that of the run
}

// Execute carries out a call and returns how it ended. It never panics, and it
// returns when the outcome is known: at the deadline at the latest, or as soon
// as ctx is done, whatever the handler does.
//
// A call with the id and the arguments of an earlier call of the session is not
// run again: it gets the outcome of the earlier one, when that has it.
func (t *Turn) Execute(ctx context.Context, in Call) (out Outcome) {
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

// begin gives a call to a worker, unless it ends before, or is an earlier one.
func (t *Turn) begin(ctx context.Context, in Call, b *batch) (c *call, earlier *callRecord) {
	if c, earlier = t.open(ctx, in, ctx.Done()); c == nil || earlier != nil {
		return nil, earlier
	}
	c.batch = b
	t.launch(c)
	return c, nil
}

// launch gives a call that is new to a worker, unless it ends before.
func (t *Turn) launch(c *call) {
	if c.declare() {
		c.exec.workers.take(c)
	} else {
		c.depart()
	}
}

// advance takes a call through the states that are left to it. It runs in a
// goroutine of its own, because policies and handlers may hang: then somebody else
// ends the call, and the next step finds it so.
func (c *call) advance() {
	defer c.leave()
	if c.rejudging {
		_ = c.evaluateAgain() && c.restart() && c.attempts()
		c.returned = true
		return
	}
	_ = (c.resumed() || (c.readmits || c.validate()) && c.checkGates()) && // once, before it waited for consent
		c.decide() &&
		(c.attempt > 0 || c.awaitSlot() && c.start()) && // unless that was one step with its admission
		c.attempts()
	c.returned = true
}

// A Verdict is what WhatIf found out.
type Verdict struct {
	Runs     bool     // the handler would be started
	Outcome  Outcome  // why not, when it would not be
	Decision Decision // of the policy; zero when it was not asked
	Input    []byte   // JSON of what the handler would get; nil when the input is invalid, or was not read
}

// WhatIf judges a call as Execute would, on the same path, and stops where the
// handler would be started. It changes nothing, emits no event and neither
// looks at nor takes the call's id.
func (t *Turn) WhatIf(ctx context.Context, in Call) Verdict {
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
	c.await(new(Outcome))
	return c.verdict()
}

// noRun is the outcome of a call in a turn that belongs to no run.
func noRun(in Call) Outcome {
	return Outcome{
		CallID: in.ID, Tool: in.Tool, Kind: Denied,
		Reason: ReasonShuttingDown, AllReasons: []Reason{ReasonShuttingDown},
		Message: "no executor is running: calls are made in a turn of a run",
	}
}

// left returns how much of the budget is left at now; ok is false when there is none to keep to.
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

// isBlocked is blocks when some tool is blocked.
func (t *Turn) isBlocked(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, blocked := t.blocked[i]
	return blocked
}
