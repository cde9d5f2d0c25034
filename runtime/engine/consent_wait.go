package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// park lets a call wait for consent once its worker has returned, or continues it when
// it has been approved already.
func (c *call) park() {
	c.worker = nil
	if err := c.trail.Flush(); err != nil {
		c.finish(c.journalUnavailable(err))
	} else {
		c.span.Consent()
		c.notify()
	}
	goOn := c.progress.Park()
	c.exec.sched.Fire(&c.record.First)
	if goOn {
		c.submitApproved()
	}
}

// endMoot is Session.endMoot after a success that may have changed the phase of the run.
func (c *call) endMoot(out *runtime.Outcome) {
	if out.Kind == runtime.Completed && out.Run >= runtime.RunCleanup && !c.dry {
		c.run.session.endMoot(c.run.id)
	}
}

// endMoot ends the calls of a run that wait for consent and that its phase lets run no more, with their requests: no answer
// could count. One whose tool has another declaration now goes on waiting for the former one (SEMANTICS 4.14.10 and 5.8.1).
// No lock is held.
func (s *Session) endMoot(run string) {
	s.mu.Lock()
	moot, why := s.memory.Moot(run)
	s.mu.Unlock()
	for _, c := range moot {
		if c.declarationChanged && why.Primary().Reason == rules.ReasonExiting || c.tool != nil && c.tool.Recorded {
			continue
		}
		e := denied(runtime.Outcome{})
		refusal.Rules(&e.outcome, c.record.Tool, why)
		e.cause = lifecycle.ByConsent // one that was approved meanwhile is judged anew
		c.finish(e)
	}
}

// submitApproved gives an approved call to a worker, which evaluates it once more. The call no
// longer ends with the context of its caller.
func (c *call) submitApproved() {
	if c.declarationChanged {
		c.finish(denied(outcomes.Redeclared()))
		return
	}
	switch c.place.EnterGates(&c.run.node.Workers) {
	case capacity.Executor:
		c.finish(denied(outcomes.ShuttingDown()))
		return
	case capacity.Run:
		c.finish(aborted(outcomes.RunClosed()))
		return
	}
	trace(c)
	c.progress.Lock()
	c.workReturned = false
	c.place.Reenter()
	c.values.Args, c.values.Text, c.now = c.values.Final, c.values.FinalText, c.clock()
	c.progress.Submit(c.now)
	c.workCtx = context.WithoutCancel(c.ctx)
	c.progress.Unlock()
	c.submit()
}

// notify notifies the approvers of the request of the call. When no
// approver could be notified and the application does not poll Requests, the call is denied.
func (c *call) notify() {
	e := c.exec
	if len(e.approvers) == 0 {
		return
	}
	r, open := e.Request(c.consent.Request)
	if !open {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx))
	c.progress.Lock()
	c.consent.CancelNotify = cancel
	over := c.progress.Life.Ended()
	c.progress.Unlock()
	if over {
		cancel()
		return
	}
	approvals.Notify(ctx, &e.sched, e.approvers, r, c.notifyReporter, func() {
		if !e.polled {
			over := denied(outcomes.NobodyAsked(c.record.Tool))
			over.cause = lifecycle.ByConsent
			c.finish(over)
		}
	})
}

// notifyReporter returns what reports that an approver could not be notified. It reads the sensitive
// values of the call at once: the worker has left the call, and an answer may bring it back.
func (c *call) notifyReporter() func(approvals.Failure) {
	secrets := c.values.Secrets(c.tool, c.record.Input, nil)
	return func(f approvals.Failure) {
		fault := c.newFault(runtime.ReasonNone, f.Err)
		if f.Panicked != nil {
			fault = c.panicFault(f.Panicked)
			fault.Reason = runtime.ReasonNone
		}
		c.exec.report(fault.Hide(secrets.Redact))
	}
}
