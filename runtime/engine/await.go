package engine

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// await waits for the outcome of c and stores it in out, which is zero. It cancels c
// when its caller's context ends. A call that still waits for consent when ConsentWait
// is over has the outcome pending.
func (c *call) await(out *runtime.Outcome) {
	r := c.record
	quick := !c.exec.sched.Counts() && r.First.Spin() // a Waiter counts waiting goroutines
	if !quick && c.exec.sched.Wait(&r.First, nil, c.ctx.Done()) == sched.Done {
		c.cancelByCaller()
		c.exec.sched.Wait(&r.First, nil, nil)
	}
	if r.Final != nil {
		*out = c.awaitConsent()
		return
	}
	if !c.dry {
		c.observe(c.ctx.Done())
	}
	r.Fill(out)
}

// cancelByCaller cancels c because its caller's context has ended, unless c waits for consent.
func (c *call) cancelByCaller() {
	e := aborted(outcomes.Cancelled())
	e.cause = lifecycle.ByCaller
	c.finish(e)
}

// awaitConsent waits for the outcome of a call that waits for consent, at most for
// TurnConfig.ConsentWait, and longer when the call has been approved by then.
func (c *call) awaitConsent() runtime.Outcome {
	final := c.record.Final
	gone := c.ctx.Done()
	late := sched.NewEvent()
	c.progress.Lock()
	c.consent.waitOver = late
	c.progress.Unlock()
	if d := c.remainingConsentWait(); d > 0 && !c.exec.approvals.Closed().Fired() {
		t := c.exec.sched.After(d, func() { c.exec.sched.Fire(late) })
		c.exec.sched.Wait(final, late, gone)
		t.Stop()
	}
	c.progress.Lock()
	if c.progress.Life.Detach() {
		out := c.pending()
		c.progress.Unlock()
		return out
	}
	c.progress.Unlock()
	if c.exec.sched.Wait(final, nil, gone) == sched.Done {
		c.cancelByCaller()
		c.exec.sched.Wait(final, nil, nil)
	}
	c.observe(gone)
	return c.record.Outcome()
}

// remainingConsentWait returns how much longer the caller waits for consent.
func (c *call) remainingConsentWait() time.Duration {
	now := c.clock()
	d := c.turn.consentWait - now.Sub(c.consent.since)
	if left, bounded := c.turn.remainingBudget(now); bounded {
		d = min(d, left)
	}
	return d
}

// pendingOutcome returns the outcome pending when the call waits for consent.
func (c *call) pendingOutcome() (runtime.Outcome, bool) {
	c.progress.Lock()
	defer c.progress.Unlock()
	if !c.progress.Life.AwaitsConsent() {
		return runtime.Outcome{}, false
	}
	return c.pending(), true
}

// Await returns the outcome of a call that was made in s, as soon as it has one. When ctx ends
// before, the outcome describes the present state of the call: pending when it waits for consent,
// cancelled when it continues and this caller stops waiting for it. A call that was never made is
// denied.
func (s *Session) Await(ctx context.Context, callID string) runtime.Outcome {
	ctx = deadline.OrBackground(ctx)
	r := s.find(callID)
	if r == nil {
		return runtime.Outcome{CallID: callID, Message: "there is no such call in this session"}
	}
	e := s.exec
	saw := e.sched.Wait(&r.First, nil, ctx.Done())
	if saw != sched.Done && r.Final != nil {
		if saw = e.sched.Wait(r.Final, e.approvals.Closed(), ctx.Done()); saw == sched.Second {
			if out, waits := r.Live.pendingOutcome(); waits {
				return out
			}
			saw = e.sched.Wait(r.Final, nil, ctx.Done())
		}
	}
	if saw == sched.Done {
		return currentOutcome(r)
	}
	return r.Outcome()
}

// Await is Session.Await for a caller that has only the id of the session. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Await(ctx context.Context, sessionID, callID string) runtime.Outcome {
	return e.sessionOf(sessionID).Await(ctx, callID)
}

// awaitOther returns the outcome of a call that another caller made.
func (s *Session) awaitOther(ctx context.Context, r *callRecord) runtime.Outcome {
	e := s.exec
	if !r.First.Fired() && e.sched.Wait(&r.First, nil, ctx.Done()) == sched.Done {
		return currentOutcome(r)
	}
	if r.Final == nil {
		return r.Outcome()
	}
	if out, waits := r.Live.pendingOutcome(); waits {
		return out
	}
	if e.sched.Wait(r.Final, nil, ctx.Done()) == sched.Done {
		return currentOutcome(r)
	}
	return r.Outcome()
}

// currentOutcome returns the present outcome of the call, which may be pending or cancelled.
func currentOutcome(r *callRecord) runtime.Outcome {
	if r.First.Fired() {
		if r.Ended() {
			return r.Outcome()
		}
		if out, waits := r.Live.pendingOutcome(); waits {
			return out
		}
	}
	return outcomes.StillRuns(r.ID, r.Tool)
}
