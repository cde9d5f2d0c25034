package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/evaluations"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
)

// timeOut ends the call because its handler ran past the deadline.
func (c *call) timeOut(at lifecycle.Moment) {
	spec := c.tool.Spec
	had := c.progress.Scope.Due().Sub(c.now)
	e := aborted(outcomes.TimedOut(c.record.Tool, had, spec.Idempotent && spec.Retry != nil && spec.Retry.OnTimeout))
	e.cause, e.moment = lifecycle.ByTimer, at
	c.finish(e)
}

// expire handles the timer of the call. It ends the call when its phase is over, and returns when
// the timer should call again, zero when it should not. It abandons an evaluation of the policy
// that still runs by then, even when the call has its outcome already.
func (c *call) expire() (again time.Time) {
	c.progress.Lock()
	now := c.clock()
	x := c.progress.Life.Expire(now)
	if x.Abandon {
		c.exec.evaluations.Abandon(c.tool.Index)
	}
	if x.Lingering {
		c.transition(runtime.EventLingering, c.progress.State(), &note{At: now})
	}
	if c.progress.EnterGrace(x.Overdue, now, c.tool.MayRetryTimeout(c.progress.Life.Attempt())) {
		x.Overdue, x.Again = lifecycle.Moment{}, c.progress.Life.Due()
	}
	c.progress.Unlock()
	if x.Overdue == (lifecycle.Moment{}) {
		return x.Again
	}
	c.overdue(x.Overdue)
	c.progress.Lock()
	defer c.progress.Unlock()
	again, lingers := c.progress.Life.Linger(now)
	if lingers {
		c.transition(runtime.EventLingering, c.progress.State(), &note{At: now})
	}
	return again
}

// overdue ends the call because the time of a moment is over.
func (c *call) overdue(at lifecycle.Moment) {
	var e *result
	switch at.Phase() {
	case lifecycle.Deciding:
		e = policyFailure("timeout", "the policy could not judge the call in time, which is denied therefore")
		e.fault = c.newFault(runtime.ReasonPolicyError, evaluations.ErrAbandoned)
	case lifecycle.Admitting, lifecycle.Held:
		e = denied(outcomes.TurnOver())
	case lifecycle.Repeating:
		c.progress.Lock()
		of := c.repeats
		c.progress.Unlock()
		e = denied(outcomes.EqualWaits(c.record.Tool, of, c.place.RetryAfter()))
	case lifecycle.Previewing:
		e = &result{
			event: runtime.EventFailed, to: runtime.StateFailed, fault: c.newFault(runtime.ReasonPreviewFailed, errPreviewLate),
			outcome: outcomes.PreviewLate(c.record.Tool),
		}
	case lifecycle.Queued:
		e = denied(c.place.Overdue(c.record.Tool))
	case lifecycle.Running, lifecycle.Grace, lifecycle.Finishing:
		c.timeOut(at)
		return
	case lifecycle.Committing:
		e = &result{}
		c.commitUnknown(e, runtime.ReasonCommitFailed, errCommitting)
	default:
		return
	}
	e.cause, e.moment = lifecycle.ByTimer, at
	c.finish(e)
}

// policyFailure returns the denial of a call about which the policy could not be asked.
func policyFailure(rule, message string) *result {
	j := &evaluation{}
	j.Refuse(runtime.ReasonPolicyError, runtime.Detail{Rule: rule}, message)
	r := denied(runtime.Outcome{Kind: runtime.Denied})
	r.evaluated = j
	return r
}
