package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// start checks the approval and gives the handler its deadline: that of the tool or of the turn, or
// the end of the turn's budget if that comes first.
func (c *call) start() *result {
	if why := c.exec.workers.Halted(); why != 0 {
		c.halt(why)
		return workerDone
	}
	if c.exec.processes.Changed(c.tool.Index) && !c.approved() { // an approval is bound to the program
		return denied(outcomes.ProgramChanged(c.record.Tool))
	}
	d := c.attemptDeadline()
	if c.exec.sched.Counts() {
		c.now = c.clock() // a simulation may have let time pass
	}
	if r := c.tryRecordStart(d); r != nil {
		return r
	}
	c.worker.Arm(c.progress.Scope.Due())
	return nil
}

// tryRecordStart is recordStart for a call that may have ended.
func (c *call) tryRecordStart(d time.Duration) *result {
	c.progress.Lock()
	defer c.progress.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.progress.Life.Ended() {
		return workerDone
	}
	return c.recordStart(d)
}

// recordStart records that the handler starts now with the deadline d. In the same step of the
// session it uses up an approval or a grant. It returns the result of the call when the call may not
// start. The locks of the call and its session are held.
func (c *call) recordStart(d time.Duration) *result {
	if c.progress.TurnOver(c.now) { // before an approval is used up or the handler is called
		return denied(outcomes.TurnOver())
	}
	if c.run.node.Closing() { // another goroutine is about to end the call
		return aborted(outcomes.RunClosed())
	}
	if c.consent != nil { // the approval may be used up in another call's entry, but within the transaction of this call
		c.exec.log.HoldBatch()
		defer c.exec.log.ReleaseBatch()
		if out := c.exec.approvals.Start(c.now, c.consent, c.consentCallWith(c.values.Final, c.progress.Revision)); out != nil {
			return denied(*out)
		}
	}
	if err := c.run.session.memory.Start(c.exec.instant(c.now), c.record); err != nil { // the run was closed
		return aborted(outcomes.RunClosed())
	}
	due := deadline.Earlier(c.now.Add(d), c.progress.TurnEnds())
	c.progress.BeginAttempt(c.workCtx, due, c.now, c.exec.log.On())
	c.transition(runtime.EventStarted, runtime.StateExecuting, &note{At: c.now, Session: true})
	return nil
}

// attempts runs the handler until it need not, or must not, be run again. All attempts are one
// call: they share its slot, its consent and its claims. The deadline of an attempt bounds what its error's methods and
// the encoding of its output take (SEMANTICS 6.1.10): both run before progress.Return.
func (c *call) attempts() *result {
	for {
		if r := c.invoke(); r != nil {
			return r
		}
		var e result
		c.handlerResult(&e)
		transient := c.worker.handlerErr != nil && errmark.IsTransient(c.worker.handlerErr)
		late := c.progress.Return(c.tool.MayRetryTimeout(c.progress.Life.Attempt()))
		wait, again := c.retry(&e, late, transient)
		if !again {
			return c.accept(&e, late)
		}
		if c.exec.sched.WaitFor(c.done(), wait) {
			return workerDone
		}
		if r := c.restart(); r != nil {
			return r
		}
	}
}

// prepareUndo has the tool prepare the state that an undo of the call will need, and stores it. It
// does so once per call, because a second attempt may find what the first attempt has changed.
func (c *call) prepareUndo() error {
	if c.tool.Hooks.Prepare == nil || c.isPrepared {
		return nil
	}
	return c.prepareState()
}

// attemptDeadline returns the deadline of an attempt, which a simulation may replace. The caller
// holds no lock, because a simulation may wait.
func (c *work) attemptDeadline() time.Duration {
	if c.exec.sched.Counts() {
		if d, ok := simhooks.Deadline(c.workCtx, c.id); ok {
			return d
		}
	}
	return c.deadline()
}

// invoke runs the handler. The handler may not return, return late, panic or call runtime.Goexit;
// leave handles the last two.
func (c *call) invoke() *result {
	parent, end := c.span.Attempt(c.workCtx, c.progress.Life.Attempt())
	defer end()
	c.progress.Scope.Context().Parent = parent
	if c.worker.handlerErr = c.prepareUndo(); c.worker.handlerErr != nil {
		return nil
	}
	if r := c.flushIntent(); r != nil {
		return r
	}
	if c.exec.processes.Of(c.tool.Index) == nil { // a command may find no room for its program
		c.begin()
	}
	c.exec.tally.Running.Add(1)
	defer c.exec.tally.Running.Add(-1)
	c.values.Outputs, c.worker.handlerErr = c.tool.Hooks.Run(c.progress.Scope.Context(), c.values.Final)
	c.worker.handlerErr = usercode.Bound(c.worker.handlerErr)
	return nil
}

// retry reports whether the handler is run again after an attempt with the result e, and after what wait. What the
// attempt did is then rolled back.
func (c *call) retry(e *result, late, transient bool) (wait time.Duration, again bool) {
	if !c.tool.MayRetry(c.progress.Life.Attempt(), late, transient) || c.progress.Scope.Aborted() {
		return 0, false
	}
	wait = tools.Backoff(c.tool.Spec.Retry, c.progress.Life.Attempt())
	return wait, c.progress.HasBudget(wait+c.turn.minimum) && c.rollBackAttempt(e)
}

// rollBackAttempt rolls back what the present attempt did and records that there will be another. It
// reports false when the call has ended, or the rollback failed.
func (c *call) rollBackAttempt(e *result) bool {
	var text string
	if e.fault != nil && c.exec.emitsEvents() {
		text = c.redactText(e.fault.Text)
	}
	if !c.progress.RollBack(c.ctx) {
		return false
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	if c.progress.Life.Ended() {
		return false
	}
	c.progress.Scope.Forget()
	c.transition(runtime.EventRetrying, runtime.StateExecuting, &note{At: c.clock(), Text: text})
	return true
}

// restart begins the next attempt.
func (c *call) restart() *result {
	if why := c.exec.workers.Halted(); why != 0 {
		c.halt(why)
		return workerDone
	}
	d := c.attemptDeadline()
	c.progress.Lock()
	c.now = c.clock()
	due := deadline.Earlier(c.now.Add(d), c.progress.TurnEnds())
	c.run.session.mu.Lock()
	closing := c.run.node.Closing() // another goroutine is about to end the call
	c.run.session.mu.Unlock()
	begun := !closing && c.progress.BeginAttempt(c.workCtx, due, c.now, c.exec.log.On())
	c.progress.Unlock()
	if !begun {
		return workerDone
	}
	c.worker.Arm(due)
	return nil
}
