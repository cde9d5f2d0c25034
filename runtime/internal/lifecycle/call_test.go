package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestZeroCall: the zero call runs no handler and may end.
func TestZeroCall(t *testing.T) {
	var c Call
	assert.False(t, begin(&c) || release(&c) || c.Ask() || evaluate(&c) || c.EnterEffect(0) || c.Ended() || c.Released())
	for p := range phases {
		assert.False(t, c.Enter(p, time.Time{}), "%v", p)
	}
	assert.Zero(t, c, "what is refused changes nothing")
	assert.True(t, c.TryEnd(ByRecovery, Moment{}, start))
}

// TestPhasesThatAWorkerEnters: the worker takes a call on in the order of the pipeline.
func TestPhasesThatAWorkerEnters(t *testing.T) {
	follow := map[Phase][]Phase{
		Admitting:  {Preparing, Admitting, Repeating, Previewing}, // and Deciding, once the policy has returned
		Repeating:  {Preparing, Admitting},
		Previewing: {Admitting}, Held: {Admitting}, Queued: {Admitting, Held},
	}
	for p := range phases {
		for q := range phases {
			c := at(t, q)
			assert.Equal(t, slices.Contains(follow[p], q), c.Enter(p, after(7)), "from %v to %v", q, p)
			if c.Phase() == p && p != q {
				assert.Equal(t, after(7), c.Due())
			}
		}
		c := at(t, p)
		assert.Equal(t, p == Admitting || p == Held || p == Queued || p == Backoff, c.Begin(after(1)), "an attempt begins in %v", p)
		assert.Equal(t, p == Preparing || p == Admitting, at(t, p).Evaluate(start, 1, time.Second), "%v", p)
	}
	assert.True(t, admit(at(t, Deciding)))
}

// TestAbandonedEvaluation: a policy that returns after its time does not let the call go on.
func TestAbandonedEvaluation(t *testing.T) {
	c := at(t, Deciding)
	assert.Equal(t, Expiry{Again: after(2)}, c.Expire(after(1)), "the second tick")
	assert.Equal(t, Expiry{Overdue: c.Moment(), Abandon: true}, c.Expire(after(2)))
	assert.True(t, c.Evaluating())
	assert.False(t, evaluate(c))
	assert.True(t, c.Evaluated())
	assert.False(t, c.Evaluating() || c.Enter(Admitting, after(9)) || evaluate(c))
	assert.False(t, c.Evaluated(), "it was told")
	assert.True(t, c.TryEnd(ByTimer, c.Moment(), after(2)))

	c = at(t, Deciding) // it ends before the policy returns
	require.True(t, c.TryEnd(ByCaller, Moment{}, start))
	c.Expire(after(1))
	assert.Equal(t, Expiry{Abandon: true}, c.Expire(after(2)), "the policy still runs, and holds a place")
	assert.Zero(t, c.Expire(after(3)), "it is abandoned once")
	assert.True(t, c.Evaluated())
}

// TestLateTicksCountOnce: a process that was stopped has not used the time.
func TestLateTicksCountOnce(t *testing.T) {
	c := at(t, Preparing)
	require.True(t, c.Evaluate(start, 3, time.Second))
	assert.Equal(t, Expiry{Again: after(1)}, c.Expire(start), "too early")
	assert.Equal(t, Expiry{Again: after(101)}, c.Expire(after(100)))
	assert.Equal(t, Expiry{Again: after(201)}, c.Expire(after(200)))
	assert.True(t, c.Expire(after(201)).Abandon)
}

// TestCommitEndsWithTheTurn: no tick of a commit ends later than the turn.
func TestCommitEndsWithTheTurn(t *testing.T) {
	c := at(t, Finishing)
	require.True(t, c.Commit(start, 5, 2*time.Second, after(3)))
	assert.Equal(t, after(2), c.Due())
	assert.Equal(t, Expiry{Again: after(3)}, c.Expire(after(2)))
	assert.Equal(t, Expiry{Overdue: c.Moment()}, c.Expire(after(3)), "ticks are left, and the turn is over")

	c = at(t, Finishing)
	require.True(t, c.Commit(start, 0, 0, after(3)))
	assert.Zero(t, c.Expire(after(100)), "without ticks the commit has no end")
}

// TestReturn: one reading of the clock says whether a handler was in time.
// SEMANTICS 6.1.3, 6.1.4
func TestReturn(t *testing.T) {
	for _, x := range []struct {
		now, ends int
		again     bool
		late      bool
		phase     Phase
		due       int
	}{
		{now: 0, phase: Finishing, due: 5},
		{now: 0, ends: 3, phase: Finishing, due: 3},
		{now: 0, ends: 9, phase: Finishing, due: 5},
		{now: 1, late: true, phase: Running, due: 1},
		{now: 2, late: true, again: true, phase: Grace, due: 7},
		{now: 2, late: true, phase: Running, due: 1},
	} {
		c := at(t, Running)
		ends := time.Time{}
		if x.ends > 0 {
			ends = after(x.ends)
		}
		assert.Equal(t, x.late, c.Return(after(x.now), ends, x.again), "%+v", x)
		assert.Equal(t, x.phase, c.Phase(), "%+v", x)
		assert.Equal(t, after(x.due), c.Due(), "%+v", x)
		assert.Equal(t, x.phase != Grace, c.FenceOpen(1), "%+v", x)
	}
	c := take(t, append(admitted[:3:3], func(c *Call) bool { return c.Begin(after(60)) })...)
	require.False(t, c.Return(start, time.Time{}, false))
	assert.Equal(t, after(60), c.Due(), "not before the deadline of the attempt")
	assert.True(t, at(t, Grace).Return(start, time.Time{}, true))
	for _, p := range []Phase{Idle, Waiting, Backoff, Finishing, Committing, Decided} {
		c = at(t, p)
		was := *c
		assert.False(t, c.Return(after(99), time.Time{}, true), "%v", p)
		assert.Equal(t, was, *c)
	}
}

// TestOvertime: a result that came in time has until the end of Finishing to become the outcome.
// SEMANTICS 6.1.4
func TestOvertime(t *testing.T) {
	c := at(t, Finishing)
	assert.False(t, c.IsLate(after(4)))
	assert.True(t, c.IsLate(after(5)))
	assert.False(t, c.Decide(after(5)) || c.Commit(after(5), 1, time.Second, time.Time{}))
	assert.True(t, c.Decide(after(4)))
	assert.Zero(t, c.Expire(after(100)), "no timer ends a call whose outcome is decided")
	assert.False(t, at(t, Committing).IsLate(after(100)))
}

// TestLingering: a handler that runs on is recorded once, after the grace period.
func TestLingering(t *testing.T) {
	c := at(t, Running)
	require.True(t, c.TryEnd(ByCaller, Moment{}, start))
	assert.Equal(t, Expiry{Again: after(5)}, c.Expire(after(1)))
	assert.Equal(t, Expiry{Lingering: true}, c.Expire(after(5)))
	assert.Zero(t, c.Expire(after(6)), "it was told")
	assert.True(t, c.HandlerReturned())
	assert.False(t, c.HandlerReturned())

	c = at(t, Running)
	require.True(t, c.TryEnd(ByAbandon, Moment{}, start))
	assert.Zero(t, c.Expire(after(5)), "the journal hears nothing more")
	assert.True(t, c.HandlerReturned())

	for _, p := range []Phase{Finishing, Backoff, Decided, Queued, Deciding} {
		c = at(t, p)
		require.True(t, c.TryEnd(ByCaller, Moment{}, start))
		assert.False(t, c.HandlerReturned(), "%v: no handler runs", p)
	}
	c = at(t, Running)
	require.True(t, c.Return(after(1), time.Time{}, false))
	require.True(t, c.TryEnd(ByTimer, Moment{}, after(1)))
	assert.False(t, c.HandlerReturned(), "it has returned, late")
}

// TestFence: effects of the present attempt pass until the fence is shut.
// SEMANTICS 6.1.5
func TestFence(t *testing.T) {
	c := at(t, Running)
	assert.False(t, c.EnterEffect(0) || c.EnterEffect(2) || c.LeaveEffect())
	require.True(t, c.EnterEffect(1))
	require.True(t, c.EnterEffect(1))
	assert.False(t, c.LeaveEffect(), "the fence is open")
	assert.False(t, c.LeaveEffect(), "the fence is open")
	require.True(t, c.EnterEffect(1))
	require.True(t, inTime(c) && c.EndAttempt())
	assert.False(t, begin(c), "an effect of the first attempt has not ended")
	assert.True(t, c.ShutFence())
	assert.True(t, c.LeaveEffect())
	assert.False(t, c.LeaveEffect(), "none is inside")
	require.True(t, begin(c))
	assert.False(t, c.EnterEffect(1), "the first attempt is over")
	assert.True(t, c.EnterEffect(2))
	require.True(t, c.TryEnd(ByCaller, Moment{}, start))
	assert.False(t, c.EnterEffect(2))
	assert.True(t, c.LeaveEffect())
	for _, p := range []Phase{Grace, Backoff, Committing} {
		assert.False(t, at(t, p).FenceOpen(1), "%v", p)
	}
}

// TestConsent: of the worker that leaves and the approval that arrives the later one resumes a call.
func TestConsent(t *testing.T) {
	c := at(t, Waiting)
	assert.True(t, c.AwaitsConsent() && c.AwaitsApproval())
	assert.False(t, c.Resume(time.Time{}), "without approval")
	assert.False(t, c.Park())
	assert.False(t, c.Park())
	assert.False(t, c.Resume(time.Time{}))
	assert.True(t, c.Detach() && c.Detached() && c.Unattended())
	assert.True(t, c.Approve())
	assert.False(t, c.Approve() || c.Park() || c.AwaitsApproval() || c.Detach())
	assert.True(t, c.AwaitsConsent() && c.Resume(after(1)))
	assert.Equal(t, Preparing, c.Phase())
	assert.False(t, c.Resume(time.Time{}) || c.Approve() || c.Park())

	c = at(t, Waiting)
	assert.False(t, c.Approve(), "the worker has not left it")
	assert.False(t, c.Resume(time.Time{}))
	assert.True(t, c.Park() && c.Resume(time.Time{}))
	assert.False(t, c.Unattended())

	c = at(t, Waiting)
	c.Approve()
	require.True(t, c.TryEnd(ByOperator, Moment{}, start))
	assert.False(t, c.Park(), "it has ended")
}

// TestRestored: a call of an earlier process may wait on, start, or run again once it is judged.
func TestRestored(t *testing.T) {
	restored := func(attempt int, left bool) *Call {
		return take(t, func(c *Call) bool { return c.Restore(attempt, left) })
	}
	c := restored(0, true)
	assert.True(t, c.Detached() && c.Unattended() && !c.Released())
	assert.False(t, c.Rerun())
	require.True(t, c.RestoreWait(true))
	assert.True(t, c.Resume(after(1)))

	c = restored(0, false)
	assert.True(t, c.Triggered() && c.Unattended() && !c.Detached())
	require.True(t, c.RestoreWait(false))
	assert.True(t, c.AwaitsApproval() && c.Approve())
	c = restored(0, false)
	assert.True(t, prepare(c))

	c = restored(2, false)
	assert.True(t, c.Released())
	assert.False(t, prepare(c) || c.RestoreWait(true) || c.FenceOpen(2) || c.Reevaluated() || c.Restore(1, false))
	require.True(t, c.Rerun() && c.Reevaluating())
	require.False(t, c.Reevaluated(), "the policy was not asked")
	require.True(t, evaluate(c) && admit(c))
	assert.False(t, begin(c), "it is not judged")
	require.True(t, c.Reevaluated())
	assert.True(t, begin(c) && release(c))
	assert.Equal(t, 3, c.Attempt())
	require.True(t, inTime(c) && c.EndAttempt())
	assert.True(t, begin(c))

	c.StartTriggered()
	assert.True(t, c.Triggered())
	assert.False(t, c.Restore(0, false) || new(Call).Restore(-1, false) || new(Call).RestoreWait(true))
	c = at(t, Preparing)
	c.StartTriggered()
	assert.True(t, c.Triggered())
}

// TestUndo: an undo handler runs in the attempt of its call, until its deadline.
func TestUndo(t *testing.T) {
	c := take(t, func(c *Call) bool { return c.Undo(3, after(1)) })
	assert.True(t, c.EnterEffect(3) && !c.LeaveEffect())
	assert.True(t, c.Return(after(1), time.Time{}, false))
	assert.True(t, c.TryEnd(ByTimer, Moment{}, after(1)))
	assert.False(t, new(Call).Undo(0, after(1)))

	c = take(t, func(c *Call) bool { return c.Undo(1, after(1)) })
	require.False(t, c.Return(start, time.Time{}, false))
	require.True(t, c.Commit(start, 0, 0, time.Time{}))
	assert.False(t, c.TryEnd(ByTimer, Moment{}, start) || c.TryEnd(ByShutdown, Moment{}, start))
	assert.True(t, c.TryEnd(ByTimer, c.Moment(), start), "a commit that was not recorded")
}

// TestNames: names are for messages.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for p := range phases + 1 {
		assert.False(t, seen[p.String()], "%v", p)
		seen[p.String()] = true
	}
	for by := range causes + 1 {
		assert.False(t, seen[by.String()], "%v", by)
		seen[by.String()] = true
	}
	assert.True(t, seen["phase 15"] && seen["cause 13"] && !seen[""])
}
