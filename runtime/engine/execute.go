package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// Execute carries out a call and returns its outcome. It never panics. It returns when the outcome
// is known: at the deadline at the latest, or as soon as ctx is done, whether or not the handler
// has returned.
//
// A call with the id and the arguments of an earlier call of the session is not run again: it gets
// the outcome of the earlier call, once that call has ended. It is judged anew when the earlier call was denied for
// shutting_down, at_capacity, too_many_pending, journal_unavailable or program_changed.
func (t *Turn) Execute(ctx context.Context, in runtime.Call) (out runtime.Outcome) {
	ctx = deadline.OrBackground(ctx)
	switch c, earlier := t.begin(ctx, in, nil); {
	case c != nil:
		c.await(&out)
	case earlier != nil:
		out = t.run.session.waiting().Answer(earlier, ctx.Done())
	default:
		out = outcomes.NoRun(in)
	}
	return out
}

// StartCall starts a call and returns its id, without waiting for the policy, the handler or an
// approver. Session.Await returns the outcome, and observers get it. The call belongs to the run:
// it ends with the run, by Cancel, or when the turn's budget is used up. It does not end with a
// context of the caller.
//
// When the session has an earlier call with the same id and arguments, StartCall returns the id of
// that call. The error says that t belongs to no run, that the id is that of another call, that the
// session has ended, or that the executor is at capacity. Any other refusal is not an error but the outcome of the call.
func (t *Turn) StartCall(in runtime.Call) (id string, err error) {
	ctx := context.Background()
	if t != nil && t.run != nil && t.run.session != nil {
		ctx = t.run.session.exec.hooks.ContextOf(t.run.session.id, in.ID)
	}
	c, r := t.open(ctx, in, sched.PastDone)
	switch {
	case c == nil && r == nil:
		return "", errors.New("a call is made in a turn of a run: there is none")
	case c == nil:
		if reason, message := r.Refused(); reason == runtime.ReasonAtCapacity || reason == runtime.ReasonRunFinished || reason == runtime.ReasonCallIDReused || reason == runtime.ReasonInvalidInput || reason == runtime.ReasonJournalUnavailable {
			return "", errors.New(message)
		}
		return "", fmt.Errorf("the call id %q was used for another call: give this one an id of its own", r.ID)
	case r != nil:
		return r.ID, nil
	}
	c.progress.Life.StartTriggered()
	t.launch(c)
	return c.id, nil
}

// finishRefused sets the outcome of a call that exceeds the capacity. The session's lock is held.
func (c *call) finishRefused(out *runtime.Outcome) {
	out.CallID = c.id
	c.fillRunStatus(out)
	c.record.Store(out)
	c.exec.sched.Fire(&c.record.First)
}

// refuseUnloaded gives the call its outcome when its session cannot be loaded (SEMANTICS 6.7.14).
func (c *call) refuseUnloaded(err error) {
	r := c.journalUnavailable(err)
	r.outcome.CallID, r.outcome.Tool, r.outcome.AllReasons = c.id, c.record.Tool, []runtime.Reason{r.outcome.Reason}
	c.exec.report(r.fault)
	c.record.Store(&r.outcome)
	c.exec.sched.Fire(&c.record.First)
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
	if err := c.tooLong(); err != nil { // nothing of it is kept or recorded
		out := outcomes.TooLong(in, err)
		c.record.Store(&out)
		c.exec.sched.Fire(&c.record.First)
		c.observe(done)
		return nil, c.record
	}
	if err := c.run.session.place.Enter(); err != nil {
		c.refuseUnloaded(err)
		c.observe(done)
		return nil, c.record
	}
	full := c.place.Enter(c.record.Tool)
	is := func(tool string) bool { return tool == c.record.Tool || c.tool.Is(tool) }
	for vain := (*callRecord)(nil); ; {
		earlier, was, refused := c.register(full, vain)
		if earlier == nil && was == nil {
			trace(c)
			if refused == nil {
				return c, nil
			}
			c.place.Leave()
			c.observe(done)
			c.run.session.place.Leave()
			return nil, c.record
		}
		earlier, reused := t.run.session.past.Earlier(earlier, was, c.id, is)
		repeats := earlier != nil && c.record.Repeats(earlier, c.tool, c.exec.inputs)
		if repeats && !earlier.same(vain) && earlier.Vain() { // once: where it cannot be freed it is the answer
			c.run.session.memory.Work.Leave()
			vain = earlier
			continue
		}
		defer c.run.session.place.Leave()
		c.place.Leave()
		if repeats {
			c.run.session.memory.Work.Leave()
			return c, earlier
		}
		c.refuseID(denied(*reused), done)
		return nil, c.record
	}
}

// refuseID ends a call, which is counted in Work, because its id is that of another call or of a call of another caller.
func (c *call) refuseID(with *result, done <-chan struct{}) {
	c.idReused = true
	trace(c)
	c.emitInvoked()
	r := c.lookup()
	if r == nil {
		r = with
	}
	c.finish(r)
	c.releaseResources()
	c.run.session.memory.Work.Leave()
	c.observe(done)
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

// newCall returns a call of t, nil when t belongs to no run.
func (t *Turn) newCall(ctx context.Context, in runtime.Call) *call {
	if t == nil || t.run == nil || t.run.session == nil {
		return nil
	}
	run := t.run
	in.ID, in.Principal = wording.ValidUTF8(in.ID), wording.ValidUTF8(in.Principal)
	tool := t.run.session.exec.toolOf(ctx, in.ID, t.run.session.exec.lookup(in.Tool))
	var notes []string
	if tool == nil {
		in.Tool = wording.Cut(wording.ValidUTF8(in.Tool), wording.MaxName)
	} else {
		notes = tool.Spec.Migration(in.Tool)
		in.Tool = tool.Spec.Name // the call may have named the alias (SEMANTICS 1.5.1)
	}
	if in.Principal != "" && in.Principal != run.by.Principal {
		run = run.WithPrincipal(in.Principal)
	}
	r := &callRecord{ID: in.ID, Tool: in.Tool, By: run.by}
	c := &call{
		work: work{
			ident: ident{
				exec: t.run.session.exec, run: run, turn: t, ctx: ctx, record: r, id: in.ID, tool: tool, notes: notes,
				metadata: callMetadata(run.node.Metadata, &in), // SEMANTICS 1.2.4, 1.4.11
			},
			workCtx: ctx,
		},
	}
	c.progress.Life.Prepare(time.Time{})
	c.trail.Open(c.exec.log)
	c.place = c.exec.capacity.Place(tool)
	r.Live = c
	c.size = len(in.Input)
	r.SetInput(in.Input, tool.InputLimit())
	c.began = c.exec.sched.Now()
	c.now = c.began
	c.progress.Open(c, &c.exec.attempts, c.began, t.budgetEnds)
	return c
}

// tooLong returns why no entry of the journal can name the call, nil when one can.
func (c *ident) tooLong() error {
	return errors.Join(
		wording.Check("the id of the call", c.id, wording.MaxID), wording.Check("the principal of the call", c.run.by.Principal, wording.MaxName),
		wording.Check("the id of the sub-agent", c.run.by.Agent, wording.MaxID))
}

// trace begins the span of c, unless there is one. It calls code of the application: no lock is held.
func trace(c *call) {
	if c.exec.tally.Tracer == nil || c.span != nil {
		return
	}
	ctx, s := c.exec.tally.Start(c.ctx, runtime.CallInfoOf(c.Info()))
	c.progress.Lock()
	c.ctx, c.workCtx, c.span = ctx, ctx, s
	ended := c.progress.Life.Ended()
	c.progress.Unlock()
	if ended {
		endSpan(c)
	}
}

// register adds c to the calls of its session. When the session has a call with the same
// id, register returns that call's record, or reference, instead, unless it is that of vain, whose id c takes over. A
// call that is refused, for lack of capacity or because its session has ended, gets its outcome and is not added. Any
// other one is counted in Work.
func (c *call) register(full *runtime.Outcome, vain *callRecord) (earlier *callRecord, was *endedCall, refused *runtime.Outcome) {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory.Name(c.record)
	c.id = c.record.ID
	switch refused = s.memory.Refuse(c.record, full); {
	case refused == nil:
		s.memory.Free(vain)
		earlier, was = s.memory.Add(c.record, c.run.node.Calls())
		c.entered = earlier == nil && was == nil
	case refused == full && !s.memory.Has(vain): // there is no room to judge that anew
		earlier, was = s.memory.Find(c.id), s.memory.Reference(c.id)
	}
	if refused != nil && earlier == nil && was == nil {
		c.finishRefused(refused)
	} else {
		s.memory.Work.Force()
	}
	return earlier, was, refused
}

// launch passes a new call, which is counted in Work, to a worker, unless the call ends before.
func (t *Turn) launch(c *call) {
	defer c.run.session.memory.Work.Leave()
	c.emitInvoked()
	if err := c.record.TooMany(c.run.session.id); err != nil {
		c.exec.report(&action.CallError{SessionID: c.run.session.id, Err: err})
	}
	if r := c.lookup(); r != nil {
		c.finish(r)
		c.releaseResources()
		return
	}
	c.submit()
}

// submit passes c to a worker, which holds the session until it leaves c. A goroutine is in the session.
func (c *call) submit() {
	c.run.session.hold()
	c.exec.workers.Take(c)
}
