package engine

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// BeginAttempt begins the next attempt at now, with a context that ends at due. When no intent has to be made
// durable, because nothing is recorded, the handler is released in the same step. It reports false when the
// call has ended. The lock is held, and the caller arms the timer when it has released it.
func (p *callState) BeginAttempt(parent context.Context, due, now time.Time, recorded bool) bool {
	if !p.Life.Begin(due) {
		return false
	}
	p.Watch.Enter(tally.Other, now)
	if !recorded {
		p.Watch.Enter(tally.Handler, now)
		p.Life.Release()
	}
	p.Scope.Begin(parent, due)
	return true
}

// Release releases the handler of an attempt whose intent is durable.
func (p *callState) Release() lifecycle.Release {
	p.Lock()
	defer p.Unlock()
	may := p.Life.Release()
	if may == lifecycle.Released {
		p.Watch.Enter(tally.Handler, p.now())
	}
	return may
}

// Return reports whether the handler has returned after its deadline. The clock is read once and decides
// whether the timer or the handler came first (SEMANTICS section 6.1). The result of a handler that returned in
// time then has a deadline of its own, because code of the tool, such as an error's text, may hang like a
// handler. again says that a late handler may be run again.
func (p *callState) Return(again bool) (late bool) {
	p.Lock()
	defer p.Unlock()
	now := p.now()
	late = p.Life.Return(now, p.TurnEnds(), again)
	p.Watch.Enter(tally.Other, now)
	if late && p.Life.Phase() == lifecycle.Grace {
		p.Scope.Cancel(deadline.Exceeded)
	}
	return late
}

// Decide reports whether the result of the handler may become the outcome now. After that only this outcome
// ends the call, or a cause from outside.
func (p *callState) Decide() bool {
	p.Lock()
	defer p.Unlock()
	return p.Life.Decide(p.now())
}

// EnterGrace ends an attempt whose deadline was over at a moment, but not the call, when the handler may be run
// again. The handler has a grace in which to return. The lock is held.
func (p *callState) EnterGrace(at lifecycle.Moment, now time.Time, again bool) bool {
	if at.Phase() != lifecycle.Running || !again || !p.Life.EnterGrace(at, now) {
		return false
	}
	p.Scope.Cancel(deadline.Exceeded)
	return true
}

// RollBack ends an attempt after which another begins, and rolls back what it did (SEMANTICS 6.2.4). It reports false when the
// call has ended, or something is left.
func (p *callState) RollBack(ctx context.Context) bool {
	p.Lock()
	if !p.Life.EndAttempt() {
		p.Unlock()
		return false
	}
	drained := p.Scope.ShutFence()
	p.Unlock()
	return p.Scope.Drain(drained) && p.Scope.Rollback(ctx)
}

// HandlerReturned records that no handler runs for the call any more. It reports whether one had outlived it.
func (p *callState) HandlerReturned() (lingered bool) {
	p.handlerDone.Store(true)
	p.Lock()
	defer p.Unlock()
	return p.Life.HandlerReturned()
}

// HandlerDone reports whether no handler runs for the call any more. It needs no lock.
func (p *callState) HandlerDone() bool { return p.handlerDone.Load() }
