package engine

// An undo handler runs like the handler of a call (docs/semantics.md section 6.4): with a deadline, under a fence, and in one
// transaction over the participants, which is rolled back when the handler fails.
//
// undoHandlers.Run runs one and returns why the call was not undone, nil when it was. The intent to run is durable before the
// handler starts, and the decision to commit before anything is committed; an undoRecorder writes both. A commit that was
// decided is not taken back: when it takes longer than the grace period, Run returns an undoFault that is pending, and the
// recorder is told how it ended.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// causeOf has the causes that end an undo handler from outside.
var causeOf = map[action.Code]lifecycle.Cause{
	action.CodeTimedOut: lifecycle.ByTimer, action.CodeCancelled: lifecycle.ByCaller, action.CodeJournalUnavailable: lifecycle.ByLease,
}

// A run is one run of an undo handler. Two goroutines share it: that of the caller, and that of the
// handler, which commits. A timer, the caller and the executor may end it.
type run struct {
	undoRequest
	ctx    context.Context // of the caller
	sched  *sched.Scheduler
	grace  time.Duration // for a commit
	began  time.Time
	late   *sched.Event    // fires when the run is ended from outside
	result chan *undoFault // of the goroutine of the handler

	mu       lockorder.Mutex[lockorder.Call] // guards all that follows
	life     lifecycle.Call
	scope    attemptScope
	why      action.Code // of the end from outside
	decided  bool        // to commit
	ended    bool        // the goroutine of the handler has ended
	detached bool        // by its caller, while a decided commit continued
}

func newUndoRun(ctx context.Context, env *attemptEnv, req undoRequest) *run {
	r := &run{undoRequest: req, ctx: ctx, sched: env.Sched, grace: env.Grace, late: sched.NewEvent(), result: make(chan *undoFault, 1)}
	r.began = r.sched.Now()
	r.life.Undo(req.Number, r.began.Add(req.Deadline))
	r.scope.Open(req.Owner, nil, env, &r.mu, &r.life)
	r.scope.SetEffect(req.Effect)
	r.scope.Begin(ctx, r.life.Due())
	return r
}

// clock returns the time, by the monotonic clock from the start of the run.
func (r *run) clock() time.Time { return r.sched.Since(r.began) }

// execute runs the handler, and returns when it has ended or was ended from outside (SEMANTICS 6.4).
func (r *run) execute() *undoFault {
	timer := r.sched.After(r.Deadline, func() { r.end(action.CodeTimedOut, deadline.Exceeded) })
	defer timer.Stop()
	done := sched.NewEvent()
	r.sched.Busy(1)
	r.Hold()
	go func() {
		defer r.sched.Busy(-1)
		defer r.LetGo()
		defer r.sched.Fire(done)
		if fault := r.handle(); !r.deliver(fault) {
			r.Recorder.Concluded(fault)
		}
	}()
	if r.sched.Wait(done, r.late, r.ctx.Done()) == sched.Done {
		r.end(action.CodeCancelled, deadline.Canceled)
	}
	return r.finish(done)
}

// handle calls the handler and commits (SEMANTICS 4.20 and 6.4).
func (r *run) handle() *undoFault {
	err := usercode.Call(func() error { return r.Handler(r.scope.Context()) })
	switch in := r.returned(); {
	case !in:
		return nil // finish returns the fault
	case err == nil:
		return r.commit()
	case errors.Is(err, runtime.ErrDrift):
		return &undoFault{Code: action.CodeDrift, Err: err}
	case r.scope.Aborted() && errors.Is(err, context.Canceled):
		return &undoFault{Code: action.CodeCancelled, Err: err}
	}
	return &undoFault{Code: action.CodeHandlerError, Err: err}
}

// returned records that the handler has returned. It reports whether the handler returned in time,
// by the clock. If so, the run can no longer be ended from outside (SEMANTICS 6.4).
func (r *run) returned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	switch late := r.life.Return(now, time.Time{}, false); {
	case r.life.Ended():
		return false
	case late:
		r.life.TryEnd(lifecycle.ByTimer, lifecycle.Moment{}, now)
		r.why = action.CodeTimedOut
		r.scope.Cancel(deadline.Exceeded)
		return false
	}
	return r.life.Commit(now, 0, 0, time.Time{})
}

// commit commits what the handler did through participants (SEMANTICS 6.4).
func (r *run) commit() *undoFault {
	r.mu.Lock()
	drained := r.scope.Seal()
	r.mu.Unlock()
	what, err := r.scope.Commit(drained, false, r.decide)
	switch what {
	case transaction.Undecided:
		return &undoFault{Code: action.CodeJournalUnavailable, Err: err}
	case transaction.Unknown:
		return &undoFault{Code: action.CodeUnknown, Err: err}
	case transaction.Failed:
		return &undoFault{Code: action.CodeCommitFailed, Err: err}
	}
	return nil
}

// decide records the decision to commit.
func (r *run) decide(seals []journal.Seal) error {
	r.mu.Lock()
	ended := r.life.Ended()
	r.decided = !ended
	r.mu.Unlock()
	if ended {
		return errCommitting
	}
	return r.Recorder.Decided(r.clock(), seals)
}

// abort cancels the context of the handler. The run ends with the handler.
func (r *run) abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life.Abort()
	r.scope.Cancel(deadline.Canceled)
}

// end ends the run from outside, unless its handler has returned.
func (r *run) end(why action.Code, cause deadline.Cause) {
	r.mu.Lock()
	if !r.life.TryEnd(causeOf[why], lifecycle.Moment{}, r.clock()) {
		ended := r.life.Ended()
		r.mu.Unlock()
		if !ended { // the handler has returned, and the commit has a grace period: the journal may be full
			r.sched.Fire(r.late)
		}
		return
	}
	r.why = why
	r.scope.Cancel(cause)
	r.mu.Unlock()
	r.sched.Fire(r.late)
}

// finish returns the result, and rolls back what must not be committed. A commit has a grace
// period (SEMANTICS 6.4 and 6.6).
func (r *run) finish(done *sched.Event) *undoFault {
	var fault *undoFault
	switch {
	case r.scope.Ended():
		fault = r.endFault()
	case !r.sched.WaitFor(done, r.grace) && r.detach():
		return &undoFault{Code: action.CodeUnknown, Err: errCommitting, Pending: true}
	default:
		fault = r.receive()
	}
	if fault == nil || fault.Code == action.CodeUnknown || fault.Code == action.CodeJournalUnavailable { // recovery settles the last two
		return fault
	}
	r.mu.Lock()
	by := lifecycle.ByWorker
	if r.life.Committing() {
		by = lifecycle.ByReturn
	}
	r.life.TryEnd(by, lifecycle.Moment{}, r.clock())
	r.scope.Cancel(deadline.Canceled)
	drained := r.scope.ShutFence()
	r.mu.Unlock()
	written := r.scope.Drain(drained)
	fault.NotRolledBack = !r.scope.Rollback(r.ctx) || !written
	return fault
}

// deliver passes the result to the caller. It reports false when the caller has left; the goroutine
// of the handler then concludes the undo.
func (r *run) deliver(fault *undoFault) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if !r.detached {
		r.result <- fault
	}
	return !r.detached
}

// receive returns the result of the goroutine of the handler, which has ended or was kept from
// committing.
func (r *run) receive() *undoFault {
	if r.scope.Ended() {
		return r.endFault()
	}
	select {
	case fault := <-r.result:
		return fault
	default:
		return &undoFault{Code: action.CodeHandlerError, Err: usercode.ErrExited}
	}
}

// detach reports whether the caller leaves a commit that has not ended in time, because it was
// decided. It prevents a commit that was not decided.
func (r *run) detach() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended: // it has ended just now
	case r.decided:
		r.detached = true
	default:
		r.life.TryEnd(lifecycle.ByTimer, r.life.Moment(), r.clock())
		r.why = action.CodeCommitFailed
	}
	return r.detached
}

// endFault returns why the run was ended from outside.
func (r *run) endFault() *undoFault {
	r.mu.Lock()
	defer r.mu.Unlock()
	fault := &undoFault{Code: r.why}
	switch r.why {
	case action.CodeTimedOut:
		fault.Err = fmt.Errorf("the undo handler did not finish within %s", wording.Limit(r.Deadline))
	case action.CodeCancelled:
		fault.Err = errCancelled
	case action.CodeCommitFailed:
		fault.Err = errCommitting
	default:
		fault.Err = errHalted
	}
	return fault
}
