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

// await waits for the outcome and stores it in out, which is zero. It cancels the call
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

// cancelByCaller cancels the call because the context of its caller has ended, unless the call waits for consent.
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
	c.consent.WaitOver = late
	c.progress.Unlock()
	if d := c.patience(); d > 0 && !c.exec.approvals.Closed().Fired() {
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

// patience returns how much longer the caller waits for consent.
func (c *call) patience() time.Duration {
	now := c.clock()
	d := c.turn.consentWait - now.Sub(c.consent.Since)
	if left, bounded := deadline.Left(c.turn.budgetEnds, now); bounded {
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
// denied, and so is one of a session that has ended.
func (s *Session) Await(ctx context.Context, callID string) runtime.Outcome {
	s = s.whole()
	ctx = deadline.OrBackground(ctx)
	if s == nil {
		return outcomes.NoCall(callID, false)
	}
	defer s.place.Pin()()
	r, refused := s.past.Recall(callID)
	if refused != nil {
		return *refused
	}
	return s.waiting().Outcome(r, ctx.Done())
}

// Await is Session.Await for a caller that has only the id of the session. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Await(ctx context.Context, sessionID, callID string) runtime.Outcome {
	return e.sessionOf(sessionID).Await(ctx, callID)
}

// waiting returns how a goroutine waits for a call of s that it did not make.
func (s *Session) waiting() outcomeWait {
	pending := func(c *call) (runtime.Outcome, bool) { return c.pendingOutcome() }
	return outcomeWait{Sched: &s.exec.sched, Closed: s.exec.approvals.Closed(), Pending: pending}
}
