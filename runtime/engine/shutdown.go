package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// Shutdown ends the work of e in order. From now on calls are denied shutting_down, and requests
// for consent stay open: a caller that waits for an answer gets the outcome pending, and with a
// journal the request can be answered after a restart. Handlers may continue until ctx ends; that
// is their grace period.
//
// Then Shutdown cancels the contexts of the handlers that still run. A handler that returns now
// determines its outcome; the outcome is cancelled if the handler returns context.Canceled. Five
// seconds later the callers of the remaining calls get the outcome unknown (interrupted). No
// outcome is recorded for these calls: recovery finds them as after a crash. The error says how
// many there are.
//
// What has happened is durable then. The executor records nothing more and no longer uses the
// journal, which it does not close. Shutdown returns at most seven seconds after ctx has ended, also
// where handlers, the journal, sinks or observers never return: the error says so.
//
// Shutdown may be called again, also to end the grace period of an earlier call. It waits for the
// handlers that an earlier call has given up until ctx ends, for seven seconds at most.
func (e *Executor) Shutdown(ctx context.Context) error {
	if e == nil || e.engine == nil {
		return nil
	}
	ctx = deadline.OrBackground(ctx)
	e.capacity.Gate.Shut()
	e.sessions.Stop()
	e.closeApprovals()
	left, givenUp := e.awaitHandlers(ctx)
	within := e.bound(ending)
	if left > 0 && !givenUp {
		e.workers.Halt(haltShutdown)
		e.undos.Cancel()
		sched.Each(&e.sched, e.workers.Calls(), func(c *call) { c.shutDown() })
		if left = e.capacity.Gate.WaitFor(&e.sched, grace); left > 0 {
			e.undos.Halt()
			sched.Each(&e.sched, e.workers.Calls(), func(c *call) { c.abandon() })
			e.sched.Fire(&e.givenUp)
		}
	}
	e.judge.Refusals.Close(e.sched.Now(), e.recordAct)
	err := e.closeLog(within)
	e.lease.Release(min(grace, within()))
	if left > 0 {
		err = errors.Join(fmt.Errorf("%d calls are still running: %w", left, cmp.Or(context.Cause(ctx), errGivenUp)), err)
	}
	err = errors.Join(err, e.delivery.Drain(min(grace, within())))
	if err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}

// awaitHandlers waits until all calls have ended or the time of grace is over. It returns how many are left, and
// whether an earlier shutdown has given them up: they are waited for no longer than the end of a shutdown takes.
func (e *Executor) awaitHandlers(ctx context.Context) (left int64, givenUp bool) {
	late := &e.givenUp
	if late.Fired() {
		late = sched.NewEvent()
		defer e.sched.After(ending, func() { e.sched.Fire(late) }).Stop()
	}
	left = e.capacity.Gate.Wait(&e.sched, late, ctx.Done())
	return left, e.givenUp.Fired()
}

// ending is how long a shutdown takes at most after the time of grace: the handlers have five seconds of it.
const ending = grace + 2*time.Second

var (
	errGivenUp = errors.New("an earlier shutdown has given them up")
	errNoWrite = errors.New("the journal has not answered: what it has not written is lost, and recovery settles it")
)

// bound returns a function that says how much of d is left.
func (e *Executor) bound(d time.Duration) func() time.Duration {
	end := e.sched.Now().Add(d)
	return func() time.Duration { return max(0, e.sched.Until(end)) }
}

// closeLog writes what is left to write, and ends the log. A journal that does not answer in time is left
// alone.
func (e *Executor) closeLog(within func() time.Duration) error {
	var err error
	if e.waitFor(within(), func() { err = e.log.Close() }) {
		return err
	}
	e.log.Fail(errNoWrite)
	return errNoWrite
}

// waitFor calls f and waits until it returns, at most for d. It reports whether f has returned.
func (e *Executor) waitFor(d time.Duration, f func()) bool {
	done := sched.NewEvent()
	e.sched.Busy(1)
	go func() {
		defer e.sched.Busy(-1)
		f()
		e.sched.Fire(done)
	}()
	return e.sched.WaitFor(done, d)
}

// shutDown ends a call whose handler was not started, and cancels the context of a running handler. A
// call that waits for consent continues to wait.
func (c *call) shutDown() {
	for {
		what, moment := c.progress.Abort()
		if what != lifecycle.AbortEnd {
			return
		}
		e := denied(outcomes.ShuttingDown())
		if moment.Phase() == lifecycle.Backoff { // what the earlier attempts did was rolled back
			e = aborted(outcomes.ShutDown())
		}
		e.cause, e.moment = lifecycle.ByShutdown, moment
		if c.finish(e) {
			return
		}
	}
}

// abandon answers the callers of a call whose handler does not return. What the handler will have
// done is not known: no outcome is recorded, and recovery settles the call.
func (c *call) abandon() {
	c.progress.Lock()
	if !c.progress.Life.TryEnd(lifecycle.ByAbandon, lifecycle.Moment{}, c.clock()) {
		c.progress.Unlock()
		return
	}
	if c.progress.Life.Lingers() {
		c.exec.lingering.Add(1)
	}
	out := outcomes.Abandoned(outcomes.Ran(c.tool.Spec.Command != nil), c.progress.Life.Committing() || entry.MayLast(c.tool.Spec))
	c.completeOutcome(&out, c.clock(), true)
	s := c.run.session
	s.mu.Lock()
	c.record.Store(&out)
	s.mu.Unlock()
	over, unattended := c.done(), c.progress.Life.Unattended()
	c.progress.Unlock()
	c.exec.sched.Fire(over)
	if unattended {
		c.observe(sched.PastDone) // no caller waits
	}
}

// halt ends a call that came to a worker after the pool had stopped.
func (c *call) halt(why uint32) {
	switch why {
	case haltShutdown:
		c.shutDown()
	case haltLost:
		c.loseLease()
	}
}

// stoppedByShutdown returns the result of a call whose handler has stopped because a shutdown
// canceled it. It is nil when it was not canceled, or returned another error.
func (c *call) stoppedByShutdown(err error) *result {
	if !c.progress.Scope.Aborted() || !errors.Is(err, context.Canceled) {
		return nil
	}
	return aborted(outcomes.ShutDown())
}

// enterForUndo admits an undo, unless it cannot be recorded. An undo that is admitted must leave the gate.
func (e *Executor) enterForUndo() bool {
	return e.log.Health() == nil && e.capacity.EnterForUndo(e.log.On())
}

// Flush returns when sinks, the error handler and observers have taken all that happened before, or
// when ctx ends. In the second case the error says how much they have not taken. Sinks, the error
// handler and observers must not call it.
func (e *Executor) Flush(ctx context.Context) error {
	if e == nil || e.engine == nil {
		return nil
	}
	if err := e.delivery.Flush(deadline.OrBackground(ctx)); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Stats returns figures of e. It visits no calls, and is safe for concurrent use.
func (e *Executor) Stats() runtime.Stats {
	if e == nil || e.engine == nil {
		return runtime.Stats{}
	}
	s := runtime.Stats{
		Running: int(e.tally.Running.Load()), Waiting: e.approvals.Len(), Lingering: int(e.lingering.Load()),
		LateResults: e.tally.LateResults(), Journal: e.log.Health(), Dropped: e.delivery.Dropped(),
	}
	e.capacity.Measure(&s)
	e.evaluations.Measure(&s, e.reg)
	e.lease.Measure(&s)
	e.processes.Measure(&s)
	return s
}

// The causes for which the workers stop.
const (
	haltShutdown = iota + 1
	haltLost     // another process owns the journal
)

// loseLease ends a call whose executor no longer owns the journal. If its handler was not
// released, the call is not carried out. A call that waits for consent is left to the next owner.
func (c *call) loseLease() {
	e := c.journalUnavailable(c.exec.log.Health())
	e.fault, e.cause = nil, lifecycle.ByLeaseIdle
	if c.finish(e) {
		return
	}
	e = aborted(outcomes.LeaseLost())
	e.cause = lifecycle.ByLease
	c.finish(e)
}

const (
	// DefaultHeartbeat is how often an executor renews its ownership of the journal.
	DefaultHeartbeat = 10 * time.Second
	// DefaultStale is for how long an owner that does not renew it is believed to be alive, by itself and by the next owner.
	DefaultStale = 60 * time.Second
)

// Lost returns a channel that is closed when another process has taken the journal, or a write to it has failed for
// good: every call is denied from then on, until the program starts again. It is nil for an executor without a journal.
func (e *Executor) Lost() <-chan struct{} {
	if e == nil || e.engine == nil || !e.log.On() {
		return nil
	}
	return e.gone.Done()
}

// leaseLost ends everything that the ownership of the journal allowed. The executor records and
// admits nothing more and cancels the handlers. A caller that waits for consent gets the outcome
// pending, because the next owner continues the request.
func (e *Executor) leaseLost(cause error) {
	e.log.Fail(fmt.Errorf("the ownership of the journal is lost: %w", cause))
	e.report(&action.CallError{Reason: runtime.ReasonLeaseLost, Err: e.log.Health()})
	e.closeApprovals()
	e.sched.Fire(&e.gone)
	e.workers.Halt(haltLost)
	e.undos.Halt()
	sched.Each(&e.sched, e.workers.Calls(), func(c *call) { c.loseLease() })
}
