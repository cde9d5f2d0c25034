package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/evaluations"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// A progressCall owns a callState, and is the timer of its worker.
type progressCall struct {
	silent
	callState
	sched       sched.Scheduler
	evaluations evaluations.Evaluations
	ended       sched.Event
	armed       []time.Duration // from the start of the call; the zero time: -1
	stored      []bool          // the phase had this end, and the lock was free, when the timer was armed
}

// newCall returns a call whose worker has it, in a turn with a budget; 0: without an end.
func newCall(budget time.Duration) *progressCall {
	c := &progressCall{}
	began := c.sched.Now()
	ends := time.Time{}
	if budget > 0 {
		ends = began.Add(budget)
	}
	c.evaluations.Open(&c.sched, 1, 40*time.Millisecond)
	c.evaluations.SetPlaces(1)
	c.Life.Prepare(time.Time{})
	c.Open(c, &attemptEnv{Sched: &c.sched, Grace: lifecycle.GracePeriod}, began, ends)
	c.Attach(c)
	return c
}

func (c *progressCall) Info() callctx.Info         { return callctx.Info{} }
func (c *progressCall) Declaration() *runtime.Spec { return &runtime.Spec{} }
func (c *progressCall) PartFault(error)            {}

// Arm notes what a timer that fires at once would see.
func (c *progressCall) Arm(due time.Time) {
	after := time.Duration(-1)
	if !due.IsZero() {
		after = due.Sub(c.began)
	}
	if m, ok := any(&c.Mutex).(interface{ TryLock() bool }); ok { // a debug build has no TryLock, and checks the order itself
		free := m.TryLock()
		c.stored = append(c.stored, free && c.Life.Due().Equal(due))
		if free {
			c.Unlock()
		}
	}
	c.armed = append(c.armed, after)
}

// end ends the call.
func (c *progressCall) end(kind runtime.OutcomeKind) bool {
	c.Lock()
	defer c.Unlock()
	ok := c.Life.TryEnd(lifecycle.ByWorker, lifecycle.Moment{}, c.now())
	if ok {
		c.CancelContexts(kind)
		c.sched.Fire(&c.ended)
	}
	return ok
}

// run begins an attempt, in a phase in which that is possible.
func (c *progressCall) run(t *testing.T, d time.Duration, recorded bool) {
	t.Helper()
	if c.Life.Phase() == lifecycle.Preparing {
		require.True(t, c.Enter(lifecycle.Admitting, time.Time{}, c.now()))
	}
	c.Lock()
	defer c.Unlock()
	require.True(t, c.BeginAttempt(context.Background(), c.now().Add(d), c.now(), recorded))
}

func (c *progressCall) times() runtime.Times {
	c.Lock()
	defer c.Unlock()
	c.Watch.Enter(tally.Other, c.now())
	return c.Watch.Times()
}

// TestTimerIsArmedLast: the timer is armed when the phase has its end and the lock is free, and not for a call that
// has ended.
func TestTimerIsArmedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCall(time.Minute)
		ctx := &deadline.Context{Parent: t.Context(), Due: c.began.Add(time.Second)}
		require.True(t, c.BeginEvaluation(&c.evaluations, &deadline.Context{Parent: t.Context()}, c.now()))
		require.True(t, c.FinishEvaluation(&c.evaluations, 0, "r1", c.now()))
		require.True(t, c.EnterPreview(ctx, c.now()))
		require.True(t, c.Enter(lifecycle.Admitting, c.TurnEnds(), c.now()))
		require.True(t, c.Enter(lifecycle.Queued, c.began.Add(2*time.Second), c.now()))
		assert.Equal(t, []time.Duration{10 * time.Millisecond, time.Minute, time.Second, time.Minute, 2 * time.Second}, c.armed)
		assert.NotContains(t, c.stored, false)
		assert.Equal(t, "r1", c.Revision)
		require.True(t, c.end(runtime.Denied))
		assert.False(t, c.Enter(lifecycle.Queued, c.TurnEnds(), c.now()))
		assert.Len(t, c.armed, 5)
		assert.ErrorIs(t, ctx.Err(), context.Canceled, "the preview ends with the call")
	})
}

// TestMove: a call is invoked first and once, and its state follows legal events only.
func TestMove(t *testing.T) {
	var p callState
	_, legal := p.Move(runtime.EventValidated, runtime.StateValidated)
	assert.False(t, legal)
	_, legal = p.Move(runtime.EventInvoked, runtime.StateDeclared)
	require.True(t, legal)
	_, legal = p.Move(runtime.EventInvoked, runtime.StateDeclared)
	assert.False(t, legal)
	from, legal := p.Move(runtime.EventValidated, runtime.StateValidated)
	require.True(t, legal)
	assert.Equal(t, runtime.StateDeclared, from)
	from, legal = p.Move(runtime.EventCompleted, runtime.StateCompleted)
	assert.False(t, legal)
	assert.Equal(t, runtime.StateValidated, from)
	assert.Equal(t, runtime.StateValidated, p.State())

	var restored callState
	restored.Restore(1, false, runtime.StateExecuting, "r")
	assert.Equal(t, runtime.StateExecuting, restored.State())
	assert.True(t, restored.HandlerDone(), "no handler of this process runs")
	_, legal = restored.Move(runtime.EventInvoked, runtime.StateDeclared)
	assert.False(t, legal)
	_, legal = restored.Move(runtime.EventOrphaned, runtime.StateExecuting)
	assert.True(t, legal)
}

// TestTurn: a turn bounds a call until its caller has the outcome pending.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := newCall(0)
		assert.True(t, free.HasBudget(time.Hour))
		assert.False(t, free.TurnOver(free.began.Add(time.Hour)))
		c := newCall(10 * time.Second)
		assert.True(t, c.HasBudget(10*time.Second))
		time.Sleep(4 * time.Second)
		assert.True(t, c.HasBudget(6*time.Second))
		assert.False(t, c.HasBudget(6*time.Second+1))
		assert.False(t, c.TurnOver(c.began.Add(10*time.Second-1)))
		assert.True(t, c.TurnOver(c.began.Add(10*time.Second)))
		require.True(t, c.Enter(lifecycle.Admitting, c.TurnEnds(), c.now()))
		require.True(t, c.Life.Ask())
		require.True(t, c.Life.Detach())
		assert.Zero(t, c.TurnEnds())
		assert.True(t, c.HasBudget(time.Hour))
		assert.False(t, c.TurnOver(c.began.Add(time.Hour)))
	})
}

// TestPlaces: an evaluation has its place until it ends; one that is refused, abandoned or waits in vain has none.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := newCall(0), newCall(0)
		v := &c.evaluations
		has, waited := c.AwaitEvaluation(v, &c.ended, c.now())
		require.True(t, has)
		assert.False(t, waited)
		require.True(t, c.BeginEvaluation(v, &deadline.Context{Parent: t.Context()}, c.now()))
		got := make(chan [2]bool)
		wait := func(o *progressCall) {
			has, waited := o.AwaitEvaluation(v, &o.ended, o.now())
			got <- [2]bool{has, waited}
		}
		go wait(other)
		synctest.Wait()
		require.True(t, other.end(runtime.Cancelled))
		assert.Equal(t, [2]bool{false, true}, <-got, "the call has ended")
		late := newCall(0)
		go wait(late)
		synctest.Wait()
		require.True(t, c.FinishEvaluation(v, 0, "", c.now()))
		assert.Equal(t, [2]bool{true, true}, <-got)

		require.True(t, late.end(runtime.Cancelled))
		assert.False(t, late.BeginEvaluation(v, &deadline.Context{}, late.now()), "the call has ended")
		assert.Nil(t, v.Acquire(), "its place is free again")
		v.Release()
	})
}

// TestAbandoned: a policy that returns too late is counted until it does, and its answer is not used. The time of
// the evaluation is that of the policy.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCall(0)
		v := &c.evaluations
		ctx := &deadline.Context{Parent: t.Context()}
		require.Nil(t, v.Acquire())
		require.True(t, c.BeginEvaluation(v, ctx, c.now()))
		var x lifecycle.Expiry
		for range 4 {
			time.Sleep(10 * time.Millisecond)
			c.Lock()
			x = c.Life.Expire(c.now())
			c.Unlock()
		}
		require.True(t, x.Abandon)
		v.Abandon(0)
		require.True(t, c.end(runtime.Denied))
		assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		assert.Equal(t, 1, v.Abandoned())
		time.Sleep(time.Second)
		assert.False(t, c.FinishEvaluation(v, 0, "", c.now()))
		assert.Zero(t, v.Abandoned())
		assert.Equal(t, 1040*time.Millisecond, c.times().Policy)
	})
}

// TestCrashedPolicy: the place of a policy that panicked is free.
func TestCrashedPolicy(t *testing.T) {
	c := newCall(0)
	v := &c.evaluations
	c.LeaveEvaluation(v, 0) // none runs
	require.Nil(t, v.Acquire())
	require.True(t, c.BeginEvaluation(v, &deadline.Context{Parent: t.Context()}, c.now()))
	c.LeaveEvaluation(v, 0)
	assert.Nil(t, v.Acquire())
}

// TestReturn: a result in time has a deadline of its own; a late one may be followed by another attempt, whose
// context is canceled before.
func TestReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCall(0)
		c.run(t, time.Second, false)
		time.Sleep(500 * time.Millisecond)
		assert.False(t, c.Return(true))
		assert.Equal(t, 500*time.Millisecond, c.times().Handler)
		assert.True(t, c.Decide())
		assert.NoError(t, c.Scope.Context().Err())

		c = newCall(0)
		c.run(t, time.Second, false)
		time.Sleep(time.Second)
		assert.True(t, c.Return(true))
		assert.ErrorIs(t, c.Scope.Context().Err(), context.DeadlineExceeded)
		require.True(t, c.RollBack(t.Context()))
		first := c.Scope.Context()
		c.run(t, time.Second, false)
		assert.NotSame(t, first, c.Scope.Context())
		assert.False(t, c.Return(false))
		time.Sleep(lifecycle.GracePeriod)
		assert.False(t, c.Decide(), "its text was not ready in time")
	})
}

// TestGrace: only the deadline of a handler that runs and may run again has a grace.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCall(0)
		c.run(t, time.Second, false)
		at := c.Life.Moment()
		assert.False(t, c.EnterGrace(lifecycle.Moment{}, c.now(), true))
		assert.False(t, c.EnterGrace(at, c.now(), false))
		assert.NoError(t, c.Scope.Context().Err())
		assert.True(t, c.EnterGrace(at, c.now(), true))
		assert.ErrorIs(t, c.Scope.Context().Err(), context.DeadlineExceeded)
		assert.Equal(t, c.now().Add(lifecycle.GracePeriod), c.Life.Due())
	})
}

// TestRelease: where something is recorded, a handler is released when its intent is durable, and its time begins then.
func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCall(0)
		c.run(t, time.Minute, true)
		assert.False(t, c.Life.Released())
		time.Sleep(time.Second)
		assert.Equal(t, lifecycle.Released, c.Release())
		time.Sleep(2 * time.Second)
		assert.Equal(t, 2*time.Second, c.times().Handler)

		c = newCall(0)
		c.run(t, time.Minute, true)
		what, _ := c.Abort()
		assert.Equal(t, lifecycle.AbortCancel, what)
		assert.Equal(t, lifecycle.ReleaseAborted, c.Release())
		assert.ErrorIs(t, c.Scope.Context().Err(), context.Canceled)
	})
}

// TestProgressLingering: a handler that outlives its call is told when it returns.
func TestProgressLingering(t *testing.T) {
	c := newCall(0)
	c.run(t, time.Minute, false)
	assert.False(t, c.HandlerDone())
	require.True(t, c.end(runtime.TimedOut))
	assert.ErrorIs(t, c.Scope.Context().Err(), context.DeadlineExceeded)
	assert.False(t, c.RollBack(t.Context()), "it has ended")
	assert.True(t, c.HandlerReturned())
	assert.True(t, c.HandlerDone())
	assert.False(t, c.HandlerReturned())
	c.Resubmit()
	assert.False(t, c.HandlerDone())
}

// TestApproval: of the worker that leaves a call and the approver, the later one submits the call.
func TestApproval(t *testing.T) {
	wait := func() *progressCall {
		c := newCall(time.Minute)
		require.True(t, c.Enter(lifecycle.Admitting, c.TurnEnds(), c.now()))
		require.True(t, c.Life.Ask())
		return c
	}
	c := wait()
	assert.False(t, c.Approve())
	assert.True(t, c.Park())
	c = wait()
	assert.False(t, c.Park())
	assert.True(t, c.Approve())
	assert.False(t, c.Approve(), "twice")
	c.HandlerReturned()
	c.Lock()
	c.Submit(c.now())
	c.Unlock()
	assert.Equal(t, lifecycle.Preparing, c.Life.Phase())
	assert.Equal(t, c.TurnEnds(), c.Life.Due())
	assert.False(t, c.HandlerDone())
}

// TestAbort: a shutdown cancels a handler and leaves a call that has none to its caller.
func TestAbort(t *testing.T) {
	c := newCall(0)
	what, moment := c.Abort()
	assert.Equal(t, lifecycle.AbortEnd, what)
	assert.Equal(t, lifecycle.Preparing, moment.Phase())
	c.run(t, time.Minute, false)
	what, _ = c.Abort()
	assert.Equal(t, lifecycle.AbortCancel, what)
	assert.ErrorIs(t, c.Scope.Context().Err(), context.Canceled)
}
