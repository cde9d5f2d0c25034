package engine

import (
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A call is one execution. Two goroutines share it: the caller's, which waits for the outcome, and
// the worker's. Timers and other goroutines may end it. mu guards the last group of fields. The
// fields of the second group belong to the goroutine that executes the call.
type call struct {
	exec   *Executor
	run    *Run
	turn   *Turn
	ctx    context.Context // of the caller: it lives as long as the call
	record *callRecord
	id     string
	began  time.Time
	batch  *batch

	worker      *worker
	tool        *tool
	index       int
	now         time.Time
	args        wire.Value // as decoded
	final       wire.Value // after rewrites
	text        []byte     // of args; never changed
	finalText   []byte     // of final
	size        int        // of the input, in bytes
	obligations []runtime.Obligation
	outputs     wire.Value
	policyCtx   callContext
	slotGranted *sched.Event
	asked       *asked
	metadata    map[string]string
	heartbeat   bool            // it asked to be continued
	epoch       uint64          // of the earlier owner of the journal that started its handler
	dry         bool            // only evaluated: no events, no reservations, no handler
	undoing     bool            // it is the undo of another call and shares the record of that call
	inFlight    bool            // counted in the capacity
	readmits    bool            // after a restart: it is evaluated again, and still holds its reservation
	unfit       bool            // it waits for consent that was requested under another declaration of its tool
	entered     bool            // counted in the gates
	slot        bool            // holds a slot of its tool
	returned    bool            // the work returned without a panic and without Goexit
	work        context.Context // of policy and handler
	left        atomic.Bool     // its handler has returned

	mu           sync.Mutex
	life         lifecycle.Call // phase, attempt and fence, and who may end it
	handlerCtx   callContext
	prepared     wire.Value   // the state that its undo will need
	isPrepared   bool         // prepared was computed, and may be nil
	position     int          // in the list of active calls, from 1; guarded by the session
	evaluation   *callContext // the context of the policy
	revision     string       // of the policy that evaluated the call
	drained      *sched.Event // happens when the fence is shut and no effect is inside; nil: no goroutine waits
	state        runtime.State
	reservation  reservation // what it holds in the rule state; guarded by the session
	invoked      bool
	entry        uint64       // position of its latest entry in the journal
	interruption *result      // while it is evaluated again: its result unless it runs again
	running      *callContext // of the present attempt
	parts        []*begun     // of the present attempt, in the order in which they began
	sealing      *sched.Event // happens when no goroutine uses the parts; nil: none is using them
	stray        bool         // refused because its id is that of another call
	found        *Verdict     // dry: the verdict, when the worker ended the call
	effect       rules.Digest // of its idempotency, when its tool declares one; zero before it is admitted
	unrecorded   bool         // the journal has no entry of it: the commit log was stalled when it was made
}

// open returns a new call and, when it repeats an earlier call, the record of that one.
// A call that exceeds the capacity, or whose id is that of another call, has its outcome
// already. open then waits for its observers until done is closed, and returns a nil call
// and the record of the refused call. Both results are nil when t belongs to no run.
func (t *Turn) open(ctx context.Context, in runtime.Call, done <-chan struct{}) (c *call, earlier *callRecord) {
	c = t.newCall(ctx, in)
	if c == nil {
		return nil, nil
	}
	refused := c.enterExecutor()
	earlier = c.enroll(refused)
	if earlier == nil && refused == nil {
		return c, nil
	}
	c.leaveExecutor()
	switch {
	case earlier == nil:
		c.observe(done)
		return nil, c.record
	case c.repeats(earlier):
		return c, earlier
	}
	c.stray = true
	c.declare()
	c.refuse(runtime.ReasonCallIDReused, runtime.Detail{}, "the call id "+quote(in.ID)+
		" was used for another call: give this one an id of its own")
	c.depart()
	c.observe(done)
	return nil, c.record
}

// enroll adds c to the calls of its session. When the session has a call with the same
// id, enroll returns that call's record instead. A call that is refused for lack of
// capacity gets its outcome and is not added.
func (c *call) enroll(refused *runtime.Outcome) (earlier *callRecord) {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for c.id == "" {
		s.made++
		if id := "call-" + strconv.Itoa(s.made); s.calls.find(id) == nil {
			c.id = id
		}
	}
	c.record.id = c.id
	if refused == nil {
		s.number++
		c.record.number = s.number
		if earlier = s.calls.put(c.record); earlier == nil {
			c.run.part.calls.add(c.record)
		}
		return earlier
	}
	if earlier = s.calls.find(c.id); earlier == nil {
		c.finishRefused(refused)
	}
	return earlier
}

// newCall returns a call of t, nil when t belongs to no run.
func (t *Turn) newCall(ctx context.Context, in runtime.Call) *call {
	if t == nil || t.run == nil || t.run.session == nil {
		return nil
	}
	run := t.run
	in.ID, in.Principal = readable(in.ID), readable(in.Principal)
	tool, index := t.run.session.exec.lookup(in.Tool)
	if tool == nil {
		in.Tool = readable(in.Tool)
	}
	if in.Principal != "" && in.Principal != run.principal {
		run = run.WithPrincipal(in.Principal)
	}
	r := &callRecord{id: in.ID, tool: in.Tool}
	c := &call{
		exec: t.run.session.exec, run: run, turn: t, ctx: ctx, work: ctx, record: r, id: in.ID,
		tool: tool, index: index, metadata: in.Metadata,
	}
	c.life.Prepare(time.Time{})
	c.running = &c.handlerCtx
	r.call = c
	c.size = len(in.Input)
	if c.size > inputLimit(tool) {
		sum := sha256.Sum256(in.Input)
		r.input, r.digest = append(r.room[:0], sum[:]...), true
	} else {
		r.input = append(r.room[:0], in.Input...)
	}
	c.began = c.exec.sched.Now()
	c.now = c.began
	return c
}

// clock returns the time, measured by the monotonic clock from the start of the call. That is
// cheaper than time.Now, and a change of the wall clock does not change how long the call may take.
func (c *call) clock() time.Time { return c.exec.sched.Since(c.began) }

// over returns the signal that happens when c has its outcome.
func (c *call) over() *sched.Event {
	if c.record.final != nil {
		return c.record.final
	}
	return &c.record.first
}

// await waits for the outcome of c and stores it in out, which is zero. It cancels c
// when its caller's context ends. A call that still waits for consent when ConsentWait
// is over has the outcome pending.
func (c *call) await(out *runtime.Outcome) {
	r := c.record
	quick := !c.exec.sched.Counts() && r.first.Spin() // a Waiter counts waiting goroutines
	if !quick && c.exec.sched.Wait(&r.first, nil, c.ctx.Done()) == sched.Done {
		c.cancelByCaller()
		c.exec.sched.Wait(&r.first, nil, nil)
	}
	if r.final != nil {
		*out = c.awaitConsent()
		return
	}
	if !c.dry {
		c.observe(c.ctx.Done())
	}
	r.tell(out)
}

// cancelByCaller cancels c because its caller's context has ended, unless c waits for consent.
func (c *call) cancelByCaller() {
	e := cancellation(runtime.ReasonCancelled)
	e.cause = lifecycle.ByCaller
	c.end(*e)
}

// awaitConsent waits for the outcome of a call that waits for consent, as long as the
// caller's patience lasts, and longer when the call has been approved by then.
func (c *call) awaitConsent() runtime.Outcome {
	final := c.record.final
	gone := c.ctx.Done()
	late := sched.NewEvent()
	c.mu.Lock()
	c.asked.late = late
	c.mu.Unlock()
	if d := c.patience(); d > 0 && !c.exec.approvals.closed.Fired() {
		t := c.exec.sched.After(d, func() { c.exec.sched.Fire(late) })
		c.exec.sched.Wait(final, late, gone)
		t.Stop()
	}
	c.mu.Lock()
	if c.life.Detach() {
		out := c.pending()
		c.mu.Unlock()
		return out
	}
	c.mu.Unlock()
	if c.exec.sched.Wait(final, nil, gone) == sched.Done {
		c.cancelByCaller()
		c.exec.sched.Wait(final, nil, nil)
	}
	c.observe(gone)
	return c.record.outcome()
}

// patience returns how much longer the caller waits for consent.
func (c *call) patience() time.Duration {
	now := c.clock()
	d := c.turn.patience - now.Sub(c.asked.since)
	if left, bounded := c.turn.left(now); bounded {
		d = min(d, left)
	}
	return d
}

// ends returns when the turn's budget is used up. It returns zero for a call whose
// caller has the outcome pending, because that call no longer belongs to the turn.
func (c *call) ends() time.Time {
	if c.life.Detached() {
		return time.Time{}
	}
	return c.turn.ends
}

// waits returns the outcome pending when the call waits for consent.
func (c *call) waits() (runtime.Outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.life.Waits() {
		return runtime.Outcome{}, false
	}
	return c.pending(), true
}

// enter takes the call to phase p, which ends at due, or never when due is zero. It
// reports false when the call has ended. Only the worker calls it.
func (c *call) enter(p lifecycle.Phase, due time.Time) bool {
	c.mu.Lock()
	if !c.life.Enter(p, due) {
		c.mu.Unlock()
		return false
	}
	c.mu.Unlock()
	c.worker.arm(due)
	return true
}

// expire is called by the timer. It ends the call when its phase is over, and returns
// when the timer should call again, zero when it should not. It abandons an evaluation
// of the policy that still runs by then, even when the call has its outcome already.
func (c *call) expire() (again time.Time) {
	c.mu.Lock()
	now := c.clock()
	x := c.life.Expire(now)
	if x.Abandon {
		c.exec.evaluations.abandon(c.index, c.exec)
	}
	if x.Lingers {
		c.recordLingering(now)
	}
	if c.enterGrace(x.Overdue, now) {
		x.Overdue, x.Again = lifecycle.Moment{}, c.life.Due()
	}
	c.mu.Unlock()
	if x.Overdue == (lifecycle.Moment{}) {
		return x.Again
	}
	c.overdue(x.Overdue)
	c.mu.Lock()
	defer c.mu.Unlock()
	again, lingers := c.life.Linger(now)
	if lingers {
		c.recordLingering(now)
	}
	return again
}

// depart releases what the call holds beyond its outcome: its slot and its place in the
// counts of the executor and the run.
func (c *call) depart() {
	if c.slotGranted != nil {
		c.exec.slots[c.index].CancelWait(c.slotGranted, &c.exec.sched)
		c.slotGranted = nil
	}
	if c.slot {
		c.exec.slots[c.index].ReleaseAfter(c.clock().Sub(c.now), &c.exec.sched)
		c.slot = false
	}
	c.leaveExecutor()
	if c.entered {
		c.run.part.workers.Leave()
		c.exec.gate.Leave()
		c.entered = false
	}
}
