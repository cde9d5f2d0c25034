package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/evaluations"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// AwaitEvaluation takes a place among the evaluations, for which it waits until the call ends or the turn's
// budget is used up. It reports whether it has a place, and whether it waited for that (SEMANTICS 6.3).
func (p *callState) AwaitEvaluation(v *evaluations.Evaluations, ended *sched.Event, now time.Time) (has, waited bool) {
	wait := v.Acquire()
	if wait == nil {
		return true, false
	}
	if p.Enter(lifecycle.Admitting, p.TurnEnds(), now) && p.sched.Wait(wait, ended, nil) == sched.First {
		return true, true
	}
	v.CancelWait(wait)
	return false, true
}

// BeginEvaluation begins an evaluation that has its place. ctx is canceled when the call ends. It reports
// false, and releases the place, when the call has ended (SEMANTICS 3.5).
func (p *callState) BeginEvaluation(v *evaluations.Evaluations, ctx *deadline.Context, now time.Time) bool {
	p.Lock()
	ticks, tick := v.Limit()
	if !p.Life.Evaluate(now, ticks, tick) {
		p.Unlock()
		v.Release()
		return false
	}
	p.evaluation = ctx
	p.Watch.Enter(tally.Policy, now)
	due := p.Life.Due()
	p.Unlock()
	p.timer.Arm(due)
	return true
}

// FinishEvaluation records that the policy of a revision has returned about the tool at a position. It reports
// false when the policy took too long or the call has ended meanwhile (SEMANTICS 5.7).
func (p *callState) FinishEvaluation(v *evaluations.Evaluations, tool int, revision string, now time.Time) (inTime bool) {
	p.Lock()
	p.Revision = revision
	p.Watch.Enter(tally.Other, now)
	ctx := p.evaluation
	inTime = p.endEvaluation(v, tool) && p.Life.Enter(lifecycle.Admitting, p.TurnEnds())
	p.Unlock()
	p.timer.Arm(p.TurnEnds())
	ctx.Cancel(deadline.Canceled)
	return inTime
}

// LeaveEvaluation ends the evaluation of a policy that did not return, if one runs. The lock is held.
func (p *callState) LeaveEvaluation(v *evaluations.Evaluations, tool int) {
	if p.Life.Evaluating() {
		p.endEvaluation(v, tool)
	}
}

// endEvaluation gives the place of an evaluation back and reports whether the evaluation was in time. The lock
// is held.
func (p *callState) endEvaluation(v *evaluations.Evaluations, tool int) bool {
	abandoned := p.Life.Evaluated()
	if abandoned {
		v.Returned(tool)
	} else {
		v.Release()
	}
	return !abandoned
}

// EnterPreview begins a preview, which ends when ctx is due, or with the call. It reports false when the call
// has ended.
func (p *callState) EnterPreview(ctx *deadline.Context, now time.Time) bool {
	p.Lock()
	p.preview = ctx
	p.Unlock()
	return p.Enter(lifecycle.Previewing, ctx.Due, now)
}
