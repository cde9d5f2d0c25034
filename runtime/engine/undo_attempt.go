package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
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
		a.mu.Lock()
		a.life.Abort()
		a.scope.Cancel(deadline.Canceled)
		a.mu.Unlock()
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

// undoAttempt returns an attempt to undo c. It shares the record of c and the key of its effect.
func (c *call) undoAttempt(ctx context.Context, by string) *undoAttempt {
	a := &undoAttempt{ident: c.ident, of: c, by: by, late: sched.NewEvent()}
	a.ctx, a.began, a.undoing = ctx, c.exec.sched.Now(), true
	a.life.Undo(c.life.Attempt(), a.began.Add(deadlineOf(c.tool.spec)))
	a.scope.Open(&a.ident, &c.exec.attempts, &a.mu, &a.life)
	a.scope.SetEffect(c.scope.Effect())
	a.scope.Begin(ctx, a.life.Due())
	return a
}

// execute calls the undo handler and commits what it did. The intent is durable before the handler
// starts.
func (a *undoAttempt) execute(handler func(context.Context) error) *undoFault {
	e := a.exec
	if !e.undos.add(a) {
		return &undoFault{why: CodeJournalUnavailable, err: errUndoHalted}
	}
	defer e.undos.remove(a)
	if err := a.recordStep(&journal.Record{Kind: journal.KindUndoStarted}, e.log.Flush); err != nil {
		return &undoFault{why: CodeJournalUnavailable, err: err}
	}
	timer := e.sched.After(deadlineOf(a.tool.spec), func() { a.end(CodeTimedOut, deadline.Exceeded) })
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
	if e.sched.Wait(done, a.late, a.ctx.Done()) == sched.Done {
		a.end(CodeCancelled, deadline.Canceled)
	}
	return a.finish(done, result)
}

// runHandler calls the undo handler and commits.
func (a *undoAttempt) runHandler(handler func(context.Context) error) *undoFault {
	err := usercode.Call(func() error { return handler(a.scope.Context()) })
	switch in := a.returned(); {
	case !in:
		return nil // finish returns the fault
	case err == nil:
		return a.commit()
	case errors.Is(err, runtime.ErrDrift):
		return &undoFault{why: CodeDrift, err: err}
	case a.scope.Aborted() && errors.Is(err, context.Canceled):
		return &undoFault{why: CodeCancelled, err: err}
	}
	return &undoFault{why: CodeHandlerError, err: err}
}

// returned records that the handler has returned. It reports whether the handler returned in time,
// by the clock. If so, the attempt can no longer be ended from outside.
func (a *undoAttempt) returned() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock()
	switch late := a.life.Return(now, time.Time{}, false); {
	case a.life.Ended():
		return false
	case late:
		a.life.TryEnd(lifecycle.ByTimer, lifecycle.Moment{}, now)
		a.why = CodeTimedOut
		a.scope.Cancel(deadline.Exceeded)
		return false
	}
	return a.life.Commit(now, 0, 0, time.Time{})
}

// commit commits what the handler did through participants.
func (a *undoAttempt) commit() *undoFault {
	a.mu.Lock()
	drained := a.scope.Seal()
	a.mu.Unlock()
	what, err := a.scope.Commit(drained, false, a.decide)
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
	a.mu.Lock()
	ended := a.life.Ended()
	a.decided = !ended
	a.mu.Unlock()
	if ended {
		return errCommitting
	}
	r := &journal.Record{Kind: journal.KindUndoDecided, Sealed: seals}
	s := a.run.session
	s.mu.Lock()
	if ev, err := s.state.Undoing(s.exec.instant(a.clock()), a.id); err == nil {
		r.Undoes = &ev
	}
	s.mu.Unlock()
	return a.recordStep(r, a.exec.log.FlushThroughStall)
}

// recordStep adds an entry about the undo, and returns when flush has made it durable.
func (a *undoAttempt) recordStep(r *journal.Record, flush func(uint64) error) error {
	c, l := a.of, a.of.exec.log
	if !l.On() {
		return nil
	}
	r.At, r.Session, r.Run, r.Call, r.Tool, r.By = entry.At(c.exec.sched.Now()), c.run.session.id, c.run.id, c.id, c.record.tool, a.by
	c.mu.Lock()
	c.entry = l.Add(r, nil)
	position := c.entry
	c.mu.Unlock()
	return flush(position)
}

// end ends the attempt from outside, unless its handler has returned.
func (a *undoAttempt) end(why Code, cause deadline.Cause) {
	a.mu.Lock()
	if !a.life.TryEnd(causeOfUndo[why], lifecycle.Moment{}, a.clock()) {
		ended := a.life.Ended()
		a.mu.Unlock()
		if !ended { // the handler has returned, and the commit has a grace period: the journal may be full
			a.exec.sched.Fire(a.late)
		}
		return
	}
	a.why = why
	a.scope.Cancel(cause)
	a.mu.Unlock()
	a.exec.sched.Fire(a.late)
}

// finish returns the result of the attempt, and rolls back what must not be committed. A commit has
// a grace period.
func (a *undoAttempt) finish(done *sched.Event, result <-chan *undoFault) *undoFault {
	var fault *undoFault
	switch {
	case a.scope.Ended():
		fault = a.endFault()
	case !a.exec.sched.WaitFor(done, grace) && a.detach():
		return &undoFault{why: CodeUnknown, err: errCommitting, pending: true}
	default:
		fault = a.receive(result)
	}
	if fault == nil || fault.why == CodeUnknown || fault.why == CodeJournalUnavailable { // recovery settles the last two
		return fault
	}
	a.mu.Lock()
	by := lifecycle.ByWorker
	if a.life.Committing() {
		by = lifecycle.ByReturn
	}
	a.life.TryEnd(by, lifecycle.Moment{}, a.clock())
	a.scope.Cancel(deadline.Canceled)
	drained := a.scope.ShutFence()
	a.mu.Unlock()
	written := a.scope.Drain(drained)
	fault.notRolledBack = !a.scope.Rollback(a.ctx) || !written
	return fault
}

// deliver passes the result of the attempt to the caller. It reports false when the caller has
// left; the goroutine of the handler then concludes the undo.
func (a *undoAttempt) deliver(fault *undoFault, result chan<- *undoFault) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if !a.detached {
		result <- fault
	}
	return !a.detached
}

// receive returns the result from the goroutine of the handler, which has ended or was kept from
// committing.
func (a *undoAttempt) receive(result <-chan *undoFault) *undoFault {
	if a.scope.Ended() {
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
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended: // it has ended just now
	case a.decided:
		a.detached = true
	default:
		a.life.TryEnd(lifecycle.ByTimer, a.life.Moment(), a.clock())
		a.why = CodeCommitFailed
	}
	return a.detached
}

// endFault returns why the attempt was ended from outside.
func (a *undoAttempt) endFault() *undoFault {
	a.mu.Lock()
	defer a.mu.Unlock()
	fault := &undoFault{why: a.why}
	switch a.why {
	case CodeTimedOut:
		fault.err = fmt.Errorf("the undo handler did not finish within %s", wording.Limit(deadlineOf(a.tool.spec)))
	case CodeCancelled:
		fault.err = errUndoCancelled
	case CodeCommitFailed:
		fault.err = errCommitting
	default:
		fault.err = errUndoHalted
	}
	return fault
}
