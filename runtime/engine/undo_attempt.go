package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An undo handler runs like the handler of a call (SEMANTICS section 6.4): with a deadline, under a
// fence, in one transaction over the participants.

var (
	errUndoCancelled = errors.New("the context of the undo ended")
	errUndoHalted    = errors.New("the executor was shut down, or lost its journal, while the undo handler ran")
)

// causeOfUndo holds the causes that end an undo handler from outside.
var causeOfUndo = map[Code]lifecycle.Cause{
	CodeTimedOut: lifecycle.ByTimer, CodeCancelled: lifecycle.ByCaller, CodeJournalUnavailable: lifecycle.ByLease,
}

// abort cancels all undo handlers, because the executor is shutting down.
func (l *undoAttempts) abort() {
	for _, a := range l.all() {
		a.call.mu.Lock()
		a.call.life.Abort()
		a.call.running.Cancel(deadline.Canceled)
		a.call.mu.Unlock()
	}
}

// halt ends all attempts without recording them. The next recovery settles what they did.
func (l *undoAttempts) halt() {
	l.mu.Lock()
	l.halted = true
	l.mu.Unlock()
	for _, a := range l.all() {
		a.end(CodeJournalUnavailable, deadline.Canceled)
	}
}

// undoAttempt returns an attempt to undo c. The call of the attempt shares the record of c and the
// key of its effect. It is never admitted, and is not in the rule state.
func (c *call) undoAttempt(ctx context.Context, by string) *undoAttempt {
	now := c.exec.sched.Now()
	u := &call{
		work: work{
			ident: ident{
				exec: c.exec, run: c.run, turn: c.turn, ctx: ctx, record: c.record, id: c.id, began: now,
				tool: c.tool, index: c.index, metadata: c.metadata, undoing: true,
			},
			workCtx: ctx, now: now, final: c.final,
		},
		effect: c.effect, revision: c.revision, state: runtime.StateExecuting,
	}
	u.running = &u.handlerCtx
	u.life.Undo(c.life.Attempt(), now.Add(deadlineOf(c.tool.spec)))
	u.running.Parent, u.running.call, u.running.attempt = ctx, u, u.life.Attempt()
	u.running.Due = u.life.Due()
	return &undoAttempt{of: c, call: u, by: by, late: sched.NewEvent()}
}

// run calls the undo handler and commits what it did. The intent is durable before the handler
// starts.
func (a *undoAttempt) run(handler func(context.Context) error) *undoFault {
	u, e := a.call, a.call.exec
	if !e.undos.add(a) {
		return &undoFault{why: CodeJournalUnavailable, err: errUndoHalted}
	}
	defer e.undos.remove(a)
	if err := a.record(&journal.Record{Kind: journal.KindUndoStarted}, e.log.Flush); err != nil {
		return &undoFault{why: CodeJournalUnavailable, err: err}
	}
	timer := e.sched.After(deadlineOf(u.tool.spec), func() { a.end(CodeTimedOut, deadline.Exceeded) })
	defer timer.Stop()
	done := sched.NewEvent()
	result := make(chan *undoFault, 1)
	e.sched.Busy(1)
	go func() {
		defer e.sched.Busy(-1)
		defer e.sched.Fire(done)
		if fault := a.runHandler(handler); !a.deliver(fault, result) {
			a.of.concludeUndo(a.by, fault)
		}
	}()
	if e.sched.Wait(done, a.late, u.ctx.Done()) == sched.Done {
		a.end(CodeCancelled, deadline.Canceled)
	}
	return a.finish(done, result)
}

// runHandler calls the undo handler and commits.
func (a *undoAttempt) runHandler(handler func(context.Context) error) *undoFault {
	err := usercode.Call(func() error { return handler(a.call.running) })
	switch in := a.returned(); {
	case !in:
		return nil // finish returns the fault
	case err == nil:
		return a.commit()
	case errors.Is(err, runtime.ErrDrift):
		return &undoFault{why: CodeDrift, err: err}
	case a.call.isAborted() && errors.Is(err, context.Canceled):
		return &undoFault{why: CodeCancelled, err: err}
	}
	return &undoFault{why: CodeHandlerError, err: err}
}

// returned records that the handler has returned. It reports whether the handler returned in time,
// by the clock. If so, the attempt can no longer be ended from outside.
func (a *undoAttempt) returned() bool {
	u := a.call
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.clock()
	switch late := u.life.Return(now, time.Time{}, false); {
	case u.life.Ended():
		return false
	case late:
		u.life.TryEnd(lifecycle.ByTimer, lifecycle.Moment{}, now)
		a.why = CodeTimedOut
		u.running.Cancel(deadline.Exceeded)
		return false
	}
	return u.life.Commit(now, 0, 0, time.Time{})
}

// commit commits what the handler did through participants.
func (a *undoAttempt) commit() *undoFault {
	u := a.call
	u.mu.Lock()
	u.parts.BeginSeal()
	drained := u.shutFence()
	u.mu.Unlock()
	defer u.parts.EndSeal(&u.exec.sched)
	if drained != nil && !u.exec.sched.WaitFor(drained, grace) {
		return &undoFault{why: CodeCommitFailed, err: errWriting}
	}
	what, err := u.parts.Commit(u.running, u.partsEnv(), false, a.decide)
	switch what {
	case transaction.Undecided:
		return &undoFault{why: CodeJournalUnavailable, err: err}
	case transaction.Unknown:
		return &undoFault{why: CodeUnknown, err: err}
	case transaction.Failed:
		return &undoFault{why: CodeCommitFailed, err: err}
	}
	return nil
}

// decide records the decision to commit, and returns when it is durable. From then on recovery
// commits what the handler did.
func (a *undoAttempt) decide(seals []journal.Seal) error {
	u := a.call
	u.mu.Lock()
	ended := u.life.Ended()
	a.decided = !ended
	u.mu.Unlock()
	if ended {
		return errCommitting
	}
	r := &journal.Record{Kind: journal.KindUndoDecided, Sealed: seals}
	s := u.run.session
	s.mu.Lock()
	if ev, err := s.state.Undoing(s.exec.instant(u.clock()), u.id); err == nil {
		r.Undoes = &ev
	}
	s.mu.Unlock()
	return a.record(r, u.exec.log.FlushThroughStall)
}

// record adds an entry about the undo, and returns when flush has made it durable.
func (a *undoAttempt) record(r *journal.Record, flush func(uint64) error) error {
	c, l := a.of, a.of.exec.log
	if !l.On() {
		return nil
	}
	r.At, r.Session, r.Run, r.Call, r.Tool, r.By = recordTime(c.exec.sched.Now()), c.run.session.id, c.run.id, c.id, c.record.tool, a.by
	c.mu.Lock()
	c.entry = l.Add(r, nil)
	position := c.entry
	c.mu.Unlock()
	return flush(position)
}

// end ends the attempt from outside, unless its handler has returned.
func (a *undoAttempt) end(why Code, cause deadline.Cause) {
	u := a.call
	u.mu.Lock()
	if !u.life.TryEnd(causeOfUndo[why], lifecycle.Moment{}, u.clock()) {
		ended := u.life.Ended()
		u.mu.Unlock()
		if !ended { // the handler has returned, and the commit has a grace period: the journal may be full
			u.exec.sched.Fire(a.late)
		}
		return
	}
	a.why = why
	u.running.Cancel(cause)
	u.mu.Unlock()
	u.exec.sched.Fire(a.late)
}

// finish returns the result of the attempt, and rolls back what must not be committed. A commit has
// a grace period.
func (a *undoAttempt) finish(done *sched.Event, result <-chan *undoFault) *undoFault {
	u := a.call
	var fault *undoFault
	switch {
	case u.hasEnded():
		fault = a.endFault()
	case !u.exec.sched.WaitFor(done, grace) && a.detach():
		return &undoFault{why: CodeUnknown, err: errCommitting, pending: true}
	default:
		fault = a.receive(result)
	}
	if fault == nil || fault.why == CodeUnknown || fault.why == CodeJournalUnavailable { // recovery settles the last two
		return fault
	}
	u.mu.Lock()
	by := lifecycle.ByWorker
	if u.life.Committing() {
		by = lifecycle.ByReturn
	}
	u.life.TryEnd(by, lifecycle.Moment{}, u.clock())
	u.running.Cancel(deadline.Canceled)
	drained := u.shutFence()
	u.mu.Unlock()
	if drained != nil && !u.exec.sched.WaitFor(drained, grace) {
		fault.notRolledBack = true
	}
	fault.notRolledBack = !u.rollback() || fault.notRolledBack
	return fault
}

// deliver passes the result of the attempt to the caller. It reports false when the caller has
// left; the goroutine of the handler then concludes the undo.
func (a *undoAttempt) deliver(fault *undoFault, result chan<- *undoFault) bool {
	a.call.mu.Lock()
	defer a.call.mu.Unlock()
	a.ended = true
	if !a.detached {
		result <- fault
	}
	return !a.detached
}

// receive returns the result from the goroutine of the handler, which has ended or was kept from
// committing.
func (a *undoAttempt) receive(result <-chan *undoFault) *undoFault {
	if a.call.hasEnded() {
		return a.endFault()
	}
	select {
	case fault := <-result:
		return fault
	default:
		return &undoFault{why: CodeHandlerError, err: usercode.ErrExited}
	}
}

// detach reports whether the caller leaves a commit that has not ended in time, because it was
// decided. It prevents a commit that was not decided.
func (a *undoAttempt) detach() bool {
	u := a.call
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case a.ended: // it has ended just now
	case a.decided:
		a.detached = true
	default:
		u.life.TryEnd(lifecycle.ByTimer, u.life.Moment(), u.clock())
		a.why = CodeCommitFailed
	}
	return a.detached
}

// endFault returns why the attempt was ended from outside.
func (a *undoAttempt) endFault() *undoFault {
	u := a.call
	u.mu.Lock()
	defer u.mu.Unlock()
	fault := &undoFault{why: a.why}
	switch a.why {
	case CodeTimedOut:
		fault.err = fmt.Errorf("the undo handler did not finish within %s", wording.Limit(deadlineOf(u.tool.spec)))
	case CodeCancelled:
		fault.err = errUndoCancelled
	case CodeCommitFailed:
		fault.err = errCommitting
	default:
		fault.err = errUndoHalted
	}
	return fault
}
