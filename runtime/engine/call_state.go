package engine

// A callState is used by the worker of the call, by its timer, and by every goroutine that may end the call. Each method is
// one step: it changes the lifecycle, measures the part that begins, and lets the timer know the new end of the phase. The
// timer is armed after the lifecycle has that end and the lock is released.

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// A progressTimer ends phases. It calls back when the time of a phase is over.
type progressTimer interface {
	// Arm makes sure that the timer fires at due or before; a zero due changes nothing.
	Arm(due time.Time)
}

// A callState is how far one call has come. Open prepares it.
type callState struct {
	lockorder.Mutex[lockorder.Call] // guards all that follows

	Life     lifecycle.Call // phase, attempt and fence, and who may end the call
	Scope    attemptScope   // what its attempts do
	Watch    tally.Watch
	Revision string // of the policy that evaluated the call

	sched       *sched.Scheduler
	timer       progressTimer // of the worker
	began       time.Time
	turnEnds    time.Time // zero: never
	state       runtime.State
	invoked     bool              // its first event was emitted
	evaluation  *deadline.Context // of the policy that is being asked
	preview     *deadline.Context // nil: there is no preview
	handlerDone atomic.Bool       // it runs for the call no more; guarded by nothing
}

// A callOwner is the call of a state.
type callOwner interface {
	attemptOwner
	processOwner
}

// Open prepares p for a call of owner that began at an instant, in a turn that ends at another; zero: never.
func (p *callState) Open(owner callOwner, env *attemptEnv, began, turnEnds time.Time) {
	p.sched, p.began, p.turnEnds = env.Sched, began, turnEnds
	p.Scope.Open(owner, owner, env, &p.Mutex, &p.Life)
}

// Restore sets p to that of a call of an earlier process, whose handler had a number of attempts. A detached
// call has left its turn. No handler of this process runs for it.
func (p *callState) Restore(attempts int, detached bool, state runtime.State, revision string) {
	p.state, p.invoked, p.Revision = state, true, revision
	p.Life.Restore(attempts, detached)
	p.handlerDone.Store(true)
}

// Attach sets the timer of the worker that has the call. Only the worker calls it.
func (p *callState) Attach(t progressTimer) { p.timer = t }

// now returns the time, measured by the monotonic clock from the start of the call.
func (p *callState) now() time.Time { return p.sched.Since(p.began) }

// State returns the state of the call. The lock is held once other goroutines know the call, as for Move.
func (p *callState) State() runtime.State { return p.state }

// Invoked reports whether the first event of the call was emitted. The lock is held, as for Move.
func (p *callState) Invoked() bool { return p.invoked }

// Move takes the call to another state. It returns the state before, and false when no event of that kind is
// legal there: the state stays.
func (p *callState) Move(kind runtime.EventKind, to runtime.State) (from runtime.State, legal bool) {
	from = p.state
	if p.invoked == (kind == runtime.EventInvoked) || !kind.Legal(from, to) {
		return from, false
	}
	p.state, p.invoked = to, true
	return from, true
}

// TurnEnds returns when the turn's budget is used up. It is zero for a call whose caller has the outcome
// pending, because that call no longer belongs to the turn.
func (p *callState) TurnEnds() time.Time {
	if p.Life.Detached() {
		return time.Time{}
	}
	return p.turnEnds
}

// TurnOver reports whether the turn's budget is used up at an instant.
func (p *callState) TurnOver(at time.Time) bool {
	ends := p.TurnEnds()
	return !ends.IsZero() && !at.Before(ends)
}

// HasBudget reports whether at least a duration is left of the turn's budget, which bounds the
// call (SEMANTICS 6.1.2).
func (p *callState) HasBudget(least time.Duration) bool {
	ends := p.TurnEnds()
	return ends.IsZero() || ends.Sub(p.now()) >= least
}

// Enter takes the call to a phase, which begins now and ends at due, or never when due is zero. It reports
// false when the call has ended. Only the worker calls it.
func (p *callState) Enter(phase lifecycle.Phase, due, now time.Time) bool {
	p.Lock()
	entered := p.Life.Enter(phase, due)
	if entered && (phase == lifecycle.Held || phase == lifecycle.Queued || phase == lifecycle.Repeating) {
		p.Watch.Enter(tally.Queue, now)
	}
	p.Unlock()
	if entered {
		p.timer.Arm(due)
	}
	return entered
}

// Submit gives an approved call to another worker, which evaluates it again. The lock is held.
func (p *callState) Submit(now time.Time) {
	p.Life.Resume(p.TurnEnds())
	p.Watch.Enter(tally.Other, now)
	p.handlerDone.Store(false)
}

// Resubmit gives a call of an earlier process to a worker.
func (p *callState) Resubmit() { p.handlerDone.Store(false) }

// Approve records that the call was approved. It reports whether the caller has to submit it, because its
// worker has left it.
func (p *callState) Approve() (submit bool) {
	p.Lock()
	defer p.Unlock()
	return p.Life.Approve()
}

// Park records that the worker has left a call that waits for consent. It reports whether the worker has to
// submit it, because it was approved meanwhile.
func (p *callState) Park() (submit bool) {
	p.Lock()
	defer p.Unlock()
	return p.Life.Park()
}

// Abort prepares the call for a shutdown and cancels the context of its handler, if one runs. For
// lifecycle.AbortEnd the caller ends the call in the moment that Abort returns.
func (p *callState) Abort() (lifecycle.Abort, lifecycle.Moment) {
	p.Lock()
	defer p.Unlock()
	what, moment := p.Life.Abort()
	if what == lifecycle.AbortCancel {
		p.Scope.Cancel(deadline.Canceled)
	}
	return what, moment
}

// CancelContexts cancels the contexts of the handler, the preview and the policy of a call that has ended with
// an outcome of a kind. The lock is held.
func (p *callState) CancelContexts(kind runtime.OutcomeKind) {
	why := deadline.Canceled
	if kind == runtime.TimedOut || p.Life.Evaluating() && kind == runtime.Denied {
		why = deadline.Exceeded
	}
	if p.Life.Attempt() > 0 {
		p.Scope.Cancel(why)
	}
	if p.preview != nil {
		if kind == runtime.Failed {
			why = deadline.Exceeded
		}
		p.preview.Cancel(why)
	}
	if p.Life.Evaluating() {
		p.evaluation.Cancel(why)
	}
}
