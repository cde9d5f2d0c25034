package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
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
	c.exec.workers.Take(c)
}

// notify notifies the approvers of the request of the call, each in its own goroutine. When no
// approver could be notified and the application does not poll Requests, the call is denied.
func (c *call) notify() {
	e := c.exec
	if len(e.approvers) == 0 {
		return
	}
	r, open := e.Request(c.consent.id)
	if !open {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx))
	c.progress.Lock()
	c.consent.cancelNotify = cancel
	over := c.progress.Life.Ended()
	c.progress.Unlock()
	if over {
		cancel()
		return
	}
	var failed atomic.Int32
	for _, a := range e.approvers {
		e.sched.Busy(1)
		secrets := c.values.Secrets(c.tool, c.record.Input, nil) // the worker has left the call, and an answer may bring it back
		go func() {
			defer e.sched.Busy(-1)
			if notifyApprover(ctx, a, r, c, secrets.Redact) {
				return
			}
			if int(failed.Add(1)) == len(e.approvers) && !e.polled {
				over := denied(outcomes.NobodyAsked(c.record.Tool))
				over.cause = lifecycle.ByConsent
				c.finish(over)
			}
		}()
	}
}

// notifyApprover notifies one approver and reports whether that succeeded. hide takes the sensitive
// values of the call out of a text.
func notifyApprover(ctx context.Context, a runtime.Approver, r *runtime.ConsentRequest, c *call, hide func(string) string) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			fault := c.panicFault(usercode.Recovered(v))
			fault.Reason = runtime.ReasonNone
			c.exec.report(hideIn(fault, hide))
		}
	}()
	if err := a.Notify(ctx, r); err != nil {
		c.exec.report(hideIn(c.newFault(runtime.ReasonNone, fmt.Errorf("approver %T: %w", a, err)), hide))
		return false
	}
	return true
}
