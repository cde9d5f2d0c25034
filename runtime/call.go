package runtime

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A phase is what a call is doing, which decides what it means when its time is up.
type phase uint8

const (
	phasePreparing phase = iota + 1
	phaseDeciding        // the policy is being evaluated
	phaseAdmitting       // waits for its turn to be admitted
	phaseQueued          // waits for a free slot of its tool
	phaseRunning         // the handler runs
)

// A record is what a session remembers of a call.
type record struct {
	tool    string
	input   []byte
	short   [96]byte      // room for a short input
	done    chan struct{} // closed when outcome is set
	outcome Outcome
}

// A call is one execution. Two goroutines share it, the one that waits for the
// outcome and the one that does the work; timers and others who end calls come
// in from outside. Fields in the last group are guarded by mu, fields in the
// second belong to whoever takes the call through its states.
type call struct {
	exec   *Executor
	run    *Run
	turn   *Turn
	ctx    context.Context // of the caller: it lives as long as the call
	record *record
	in     Call
	began  time.Time

	worker      *worker
	tool        *Tool
	index       int
	now         time.Time
	args        wire.Value // as decoded
	final       wire.Value // after rewrites
	obligations []Obligation
	decision    *Decision // dry: what the policy answered
	outputs     wire.Value
	err         error
	sizer       sizer
	policyCtx   callContext
	dry         bool // only judged: no events, no reservations, no handler
	entered     bool // counted in the gates
	slot        bool // holds a slot of its tool
	runs        bool // dry: the handler would have been started
	returned    bool // the work was neither left by a panic nor by Goexit

	mu         sync.Mutex
	handlerCtx callContext
	position   int          // in the run's list of active calls, from 1; guarded by the session
	due        time.Time    // end of the phase; zero: none
	evaluation *callContext // what the policy was given
	revision   string       // of the policy that judged the call
	attempt    int          // 0: the handler was not started
	fence      fence
	state      State
	phase      phase
	invoked    bool
	evaluating bool // the policy has not returned
	abandoned  bool // and has outlived its limit
	reserved   bool // counts in the run's facts; guarded by the session
	ending     bool // somebody gives it its outcome
}

// open finds the earlier call that in repeats, or makes a new one. Both are nil
// when t belongs to no run.
func (t *Turn) open(ctx context.Context, in Call) (c *call, earlier *record) {
	c = t.newCall(ctx, in)
	if c == nil {
		return nil, nil
	}
	s := t.run.session
	s.mu.Lock()
	for c.in.ID == "" {
		s.made++
		if id := "call-" + strconv.Itoa(s.made); s.calls[id] == nil {
			c.in.ID = id
		}
	}
	earlier = s.calls[c.in.ID]
	if earlier == nil {
		s.calls[c.in.ID] = c.record
	}
	s.mu.Unlock()
	if earlier == nil || c.repeats(earlier) {
		return c, earlier
	}
	c.declare()
	c.refuse(ReasonCallIDReused, Detail{}, "the call id "+strconv.Quote(in.ID)+
		" was used for another call: give this one an id of its own")
	c.depart()
	return nil, c.record
}

// newCall returns a call of t, nil when t belongs to no run.
func (t *Turn) newCall(ctx context.Context, in Call) *call {
	if t == nil || t.run == nil || t.run.session == nil {
		return nil
	}
	r := &record{tool: in.Tool, done: make(chan struct{})}
	r.input = append(r.short[:0], in.Input...)
	c := &call{exec: t.run.session.exec, run: t.run, turn: t, ctx: ctx, record: r, in: in, phase: phasePreparing}
	c.in.Input = r.input
	c.began = time.Now()
	c.now = c.began
	return c
}

// repeats reports whether c is the same call as an earlier one: the same tool
// with arguments that decode to the same value.
func (c *call) repeats(earlier *record) bool {
	if earlier.tool != c.in.Tool {
		return false
	}
	if bytes.Equal(earlier.input, c.in.Input) {
		return true
	}
	tool, _, ok := c.exec.reg.Lookup(c.in.Tool)
	if !ok {
		return false
	}
	a, b := canonical(tool, earlier.input), canonical(tool, c.in.Input)
	return a != nil && bytes.Equal(a, b)
}

// canonical returns the arguments in input in the one form that equal arguments
// share, nil when they are invalid.
func canonical(t *Tool, input []byte) (b []byte) {
	defer func() {
		if recover() != nil { // a fault of the codec: the call itself will report it
			b = nil
		}
	}()
	v, violations := t.Decode(input)
	if violations != nil {
		return nil
	}
	b, violations = wire.Append(nil, v)
	if violations != nil {
		return nil
	}
	return b
}

// clock returns the time, on the clock by which the call began: cheaper than
// time.Now, and nobody who sets the clock makes a call longer or shorter.
func (c *call) clock() time.Time { return c.began.Add(time.Since(c.began)) }

// await returns the outcome of c, and cancels c when its caller gives up.
func (c *call) await() Outcome {
	select {
	case <-c.record.done:
	case <-c.ctx.Done():
		c.cancel(ReasonCancelled)
		<-c.record.done
	}
	if len(c.exec.observers) > 0 && !c.dry {
		c.exec.observe(c.info(), c.record.outcome)
	}
	return c.record.outcome
}

// await returns the outcome of a call that somebody else waits for.
func (r *record) await(ctx context.Context) Outcome {
	select {
	case <-r.done:
		return r.outcome
	default:
	}
	select {
	case <-r.done:
		return r.outcome
	case <-ctx.Done():
		return Outcome{
			Tool: r.tool, Kind: Cancelled, Reason: ReasonCancelled, AllReasons: []Reason{ReasonCancelled},
			Message: "nobody waits for the call here any more; it goes on",
		}
	}
}

// enter takes the call to phase p, which ends at due, or never when due is zero.
// It reports false when the call has ended. Only the worker calls it.
func (c *call) enter(p phase, due time.Time) bool {
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return false
	}
	c.phase, c.due = p, due
	c.mu.Unlock()
	c.worker.arm(due)
	return true
}

// expire is what the timer calls. It ends the call when its phase is over, and
// returns when else the timer should call again, if it should. A policy that is
// still being evaluated then is abandoned, even when the call has its outcome
// already.
func (c *call) expire() (again time.Time) {
	c.mu.Lock()
	if c.due.IsZero() || c.ending && !c.evaluating {
		c.mu.Unlock()
		return time.Time{}
	}
	if time.Until(c.due) > 0 {
		defer c.mu.Unlock()
		return c.due
	}
	if c.evaluating && !c.abandoned {
		c.abandoned = true
		c.exec.abandoned.Add(1)
	}
	p := c.phase
	c.mu.Unlock()
	c.overdue(p)
	return time.Time{}
}

// depart undoes what the call holds beyond its outcome.
func (c *call) depart() {
	if c.slot {
		c.exec.lanes[c.index].release()
	}
	if c.entered {
		c.run.workers.leave()
		c.exec.gate.leave()
	}
}
