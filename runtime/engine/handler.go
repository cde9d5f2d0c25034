package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// start checks the approval and gives the handler its deadline: that of the tool or of the turn, or
// the end of the turn's budget if that comes first.
func (c *call) start() bool {
	if why := c.exec.workers.stop.Load(); why != 0 {
		c.halted(why)
		return false
	}
	d := c.attemptDeadline()
	if c.exec.sched.Counts() {
		c.now = c.clock() // a simulation may have let time pass
	}
	started, e := c.commitIfOpen(d)
	if e != nil {
		return c.end(*e)
	}
	if started {
		c.worker.arm(c.running.due)
	}
	return started
}

// attemptDeadline returns the deadline of an attempt, which a simulation may replace. The caller
// holds no lock, because a simulation may wait.
func (c *call) attemptDeadline() time.Duration {
	if c.exec.sched.Counts() {
		if d, ok := simhooks.Deadline(c.work, c.id); ok {
			return d
		}
	}
	return c.deadline()
}

// commitIfOpen is commit for a call that may have ended. In that case it reports false.
func (c *call) commitIfOpen(d time.Duration) (started bool, e *result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.life.Ended() {
		return false, nil
	}
	e = c.commit(d)
	return e == nil, e
}

// commit records that the handler starts now with the deadline d. In the same step of the session
// it uses up an approval or a grant. It returns the result of the call when the call may not start.
// c.mu and the session's lock are held.
func (c *call) commit(d time.Duration) *result {
	due, ends := c.now.Add(d), c.ends()
	if !ends.IsZero() && ends.Before(due) {
		due = ends
	}
	if !ends.IsZero() && !c.now.Before(ends) { // before an approval is used up or the handler is called
		return refusal(runtime.ReasonDeadline, runtime.Detail{}, outOfTime)
	}
	if c.asked != nil { // the approval may be used up in another call's entry, but within the transaction of this call
		c.exec.log.HoldBatch()
		defer c.exec.log.ReleaseBatch()
		if e := c.exec.approvals.use(c); e != nil {
			return e
		}
	}
	s := c.run.session
	ev, err := s.state.Commit(c.exec.instant(c.now), c.id)
	if err != nil { // the run was closed
		return cancellation(runtime.ReasonRunClosed)
	}
	c.reservation = reservedAndInvoked
	s.note(&ev)
	c.beginAttempt(due)
	c.running.parent, c.running.call, c.running.attempt, c.running.due = c.work, c, c.life.Attempt(), due
	c.transition(runtime.EventStarted, runtime.StateExecuting, &note{at: c.now, session: true})
	return nil
}

// beginAttempt begins the next attempt. Without a journal there is no intent to make durable, and
// the handler is released in the same step. It reports false when the call has ended. c.mu is held.
func (c *call) beginAttempt(due time.Time) bool {
	return c.life.Begin(due) && (c.exec.log.On() || c.life.Release() == lifecycle.Released)
}

// invoke runs the handler. The handler may not return, return late, panic or call runtime.Goexit;
// leave handles the last two.
func (c *call) invoke() bool {
	if c.worker.err = c.prepareUndo(); c.worker.err != nil {
		return true
	}
	if !c.flushIntent() {
		return false
	}
	c.outputs, c.worker.err = c.tool.hooks.Run(c.running, c.final)
	return true
}

// finish makes the result of a handler that returned in time the outcome of the call. Code that may
// hang, such as the text of an error, runs before decideInTime, while the deadline of the call
// still applies.
func (c *call) finish(e *result) bool {
	if c.tool.spec.Artifact != nil {
		c.storeArtifact(e)
	}
	e.cause = lifecycle.ByReturn
	if e.outcome.Kind == runtime.Completed && len(c.exec.participants) > 0 {
		c.commitParts(e)
	}
	c.endInTime(e)
	return true
}

// endInTime ends the call with e, unless the deadline is over.
func (c *call) endInTime(e *result) {
	e.tell(c)
	if !c.decideInTime() {
		c.timeOut(lifecycle.Moment{})
		c.late(e.fault, e.output)
		return
	}
	if e.fault != nil {
		c.exec.report(e.fault)
	}
	if !c.tryEnd(e) && !c.committedLate(e) {
		c.late(e.fault, e.output)
	}
}

// result sets e to the result that follows from what the handler returned.
func (c *call) result(e *result) {
	spec := c.tool.spec
	if err := c.worker.err; err != nil {
		if told := c.stopped(err); told != nil {
			*e = *told
			return
		}
		fault := c.faulty(runtime.ReasonHandlerError, err)
		message, code := c.handlerMessage(fault)
		c.failed(e, message, fault)
		e.outcome.Detail.Code = code
		return
	}
	if c.outputs == nil {
		c.failed(e, "the tool returned no output", c.faulty(runtime.ReasonInvalidOutput,
			errors.New("the handler returned neither an output nor an error")))
		return
	}
	limit := outputLimit(spec)
	out, violations, ok := c.encode(limit)
	switch {
	case !ok:
		c.failed(e, fmt.Sprintf("the output of %q is larger than %d bytes", spec.Name, limit), c.faulty(runtime.ReasonOutputTooLarge,
			fmt.Errorf("the output is larger than limits.output, %d bytes", limit)))
	case violations != nil:
		c.failed(e, "the tool returned an invalid output", c.faulty(runtime.ReasonInvalidOutput,
			fmt.Errorf("the output is invalid: %s", violationList(violations))))
		e.outcome.Violations = unvalued(violations)
	default:
		e.event, e.to, e.output = runtime.EventCompleted, runtime.StateCompleted, len(out)
		e.outcome.Kind, e.outcome.Output, e.outcome.Obligations = runtime.Completed, out, c.obligations
		if len(c.obligations) == 0 {
			return
		}
		var err error
		if e.outcome.Output, err = c.redact(out); err != nil {
			e.fault = c.faulty(runtime.ReasonNone, err)
		}
	}
}

// unvalued returns violations of an output without their values. The model must not see what the
// handler returned; operators may.
func unvalued(violations []wire.Violation) []wire.Violation {
	violations = slices.Clone(violations)
	for i := range violations {
		violations[i].Actual = "(hidden)"
	}
	return violations
}

// failed sets e to the result of a call whose handler failed.
func (c *call) failed(e *result, message string, fault *CallError) {
	e.event, e.to, e.fault = runtime.EventFailed, runtime.StateFailed, fault
	e.outcome.Kind, e.outcome.Reason, e.outcome.Message = runtime.Failed, fault.Reason, message
	e.outcome.Obligations = c.obligations
}

// late records what a handler returned after its call had ended.
func (c *call) late(fault *CallError, output int) {
	text := c.tells(&runtime.Outcome{}, fault)
	if fault != nil {
		c.exec.report(fault)
	}
	c.exec.sched.Wait(c.over(), nil, nil) // the event that ended the call comes first
	now := c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Recorded() {
		c.transition(runtime.EventLateResult, c.state, &note{at: now, fault: fault, text: text, output: output})
	}
}

// leave ends the work of the worker on a call. If the work did not return, a codec, the policy, the
// handler or a sink panicked or called runtime.Goexit. Each step is deferred, so that a further
// runtime.Goexit skips none.
func (c *call) leave() {
	defer c.exec.sched.Busy(-1)
	defer c.park()
	defer c.departHandler()
	defer c.depart()
	if c.returned {
		return
	}
	fault := c.faulty(runtime.ReasonPanic, errExited)
	defer func() { c.crashed(fault) }()
	if v := recover(); v != nil {
		fault = c.panicked(v)
	}
}

// crashed ends the call after a panic or runtime.Goexit.
func (c *call) crashed(fault *CallError) {
	c.mu.Lock()
	running, unread := c.life.Attempt() > 0, c.state == runtime.StateDeclared
	if c.life.Evaluating() {
		c.settlePolicy()
	}
	c.mu.Unlock()
	if unread { // a codec called runtime.Goexit
		c.end(unreadable(nil, fault))
		return
	}
	if running {
		fault.Reason = runtime.ReasonPanic
		c.exec.report(fault)
		var e result
		c.failed(&e, fmt.Sprintf("%q failed for a reason of its own; its operators know more", c.record.tool), fault)
		if c.returnedLate() {
			c.timeOut(lifecycle.Moment{})
			c.late(fault, 0)
		} else {
			c.endInTime(&e)
		}
		return
	}
	fault.Reason = runtime.ReasonPolicyError
	e := c.unjudged("panic", "the policy could not judge the call, which is denied therefore")
	e.fault = fault
	denied := c.tryEnd(e)
	if !denied {
		c.exec.report(fault)
	}
}

// deadline returns how long one attempt of c may take, without the budget of its turn: what its
// tool declares, or less if the turn caps it.
func (c *call) deadline() time.Duration {
	d := deadlineOf(c.tool.spec)
	if most := c.turn.limit; most > 0 && most < d {
		return most
	}
	return d
}

// deadlineOf returns how long one attempt may take.
func deadlineOf(s *runtime.Spec) time.Duration {
	if s.Deadline > 0 {
		return s.Deadline
	}
	return runtime.DefaultDeadline
}

// outputLimit returns how many bytes an output may have.
func outputLimit(s *runtime.Spec) int64 {
	if s.Limits.Output > 0 {
		return s.Limits.Output
	}
	return runtime.DefaultOutputLimit
}
