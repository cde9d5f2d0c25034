package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
)

// Requests lists the requests that wait for answers, in the order in which they were made.
func (e *Executor) Requests() []*consent.Notice {
	if e == nil || e.engine == nil {
		return nil
	}
	e.approvals.ProcessDue()
	return approvals.Each(e.approvals.Requests(), e.viewRequest)
}

// OpenRequests lists the requests that wait for answers and that f matches, a page at a time: those that
// expire first come first. Unlike Requests it describes no request but those of the page.
func (e *Executor) OpenRequests(f consent.RequestFilter) []*consent.Notice {
	if e == nil || e.engine == nil {
		return nil
	}
	e.approvals.ProcessDue()
	return approvals.Each(e.approvals.Page(f), e.viewRequest)
}

// EndedRequests lists at most limit requests that need no answer any more, the newest first, as long as
// the executor retains them. before is the id of the last one of the page before; empty: from the newest.
func (e *Executor) EndedRequests(before string, limit int) []*consent.Notice {
	if e == nil || e.engine == nil {
		return nil
	}
	e.recallAll()
	return approvals.Each(e.approvals.Ended(e.sched.Now(), before, limit), e.viewRequest)
}

// Request returns a request. One that has ended is found for as long as the executor retains it.
func (e *Executor) Request(id string) (*consent.Notice, bool) {
	if e == nil || e.engine == nil {
		return nil, false
	}
	e.recall(id)
	r, ok := e.approvals.Request(id)
	if !ok {
		return nil, false
	}
	return e.viewRequest(r), true
}

// viewRequest returns a request as an approver sees it.
func (e *Executor) viewRequest(r consent.Request) *consent.Notice {
	c := e.approvals.Call(r.ID)
	if c == nil {
		return e.approvals.View(r, nil, nil)
	}
	c.progress.Lock()
	args, over := c.values.Final, c.progress.Life.Ended()
	c.progress.Unlock()
	if over {
		args = nil
	}
	return e.approvals.View(r, c.tool, args)
}

// Grants lists the grants that match f, in the order in which they were given.
func (e *Executor) Grants(f action.GrantFilter) []consent.Grant {
	if e == nil || e.engine == nil {
		return nil
	}
	e.recallAll()
	now := e.sched.Now()
	return e.approvals.Grants(func(g *consent.Grant) bool { return f.Matches(g, now) })
}

// Revoke takes a grant back: it answers no request from now on. The id of a grant is that of the
// request that it comes from. The operator policy is asked first (runtime.ActRevoke).
// The error is an *action.Error.
func (e *Executor) Revoke(ctx context.Context, grantID string, by runtime.Actor, reason string) error {
	if e == nil || e.engine == nil {
		return action.CodeUnknownRequest.Err()
	}
	e.recall(grantID)
	if err := e.authorize(deadline.OrBackground(ctx), runtime.ActRevoke, by, runtime.ActTarget{Grant: grantID}, nil); err != nil {
		return err
	}
	now := e.sched.Now()
	if e.judge.Refusals.Over(now, by.ID) {
		if why := e.approvals.ProbeRevoke(now, grantID, by.ID); why != consent.NotRejected {
			e.judge.Refusals.Counted(now, by.ID, e.recordAct)
			return action.Code(why.String()).Err()
		}
	}
	ev := e.approvals.Revoke(now, grantID, by.ID, reason)
	if err := e.recordConsent(&ev, e.log.Flush, nil); err != nil {
		return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	e.recordedRefusal(&ev)
	return action.Code(ev.Result.Rejection.String()).Err()
}

// RetireGrants ends the grants whose rules no longer exist. The application calls it after it reloaded a policy; exists
// reports whether a rule asks about a tool now. The rule of a declaration that always asks is called declaration.
func (e *Executor) RetireGrants(exists func(tool, rule string) bool) {
	if e == nil || e.engine == nil {
		return
	}
	e.recallAll()
	known := func(r consent.Rule) bool { return r.Code == approvals.RuleDeclaration || exists(r.Tool, r.Code) }
	if ev, some := e.approvals.Retire(e.sched.Now(), known); some {
		_ = e.recordConsent(&ev, e.log.Flush, nil) // the grants are retired again when the policy is loaded after a restart
	}
}

// SuspendConsent stops requests for consent until an instant, at most an hour away. A call that would have asked runs;
// a call that is denied stays denied. The error handler is warned. The operator policy is asked first (runtime.ActConsentOff).
func (e *Executor) SuspendConsent(ctx context.Context, until time.Time, by runtime.Actor, reason string) error {
	if e == nil || e.engine == nil {
		return errors.New("consent is switched off in an executor made by NewExecutor")
	}
	if err := e.log.Health(); err != nil {
		return fmt.Errorf("that consent is switched off cannot be recorded: %w", err)
	}
	if err := e.authorize(deadline.OrBackground(ctx), runtime.ActConsentOff, by, runtime.ActTarget{}, nil); err != nil {
		return err
	}
	ev, err := e.approvals.Suspend(e.sched.Now(), until, by.ID, reason)
	if err == nil {
		off := &runtime.Event{Time: ev.At, Kind: runtime.EventConsentOff, By: by.ID}
		err = e.recordConsent(&ev, e.log.FlushThroughStall, off)
	}
	if err != nil {
		return err
	}
	e.report(&action.CallError{Err: fmt.Errorf("%q has switched consent off until %s: %s", by.ID, until.Format(time.RFC3339), reason)})
	return nil
}

// Expire ends the requests that have expired and returns the ids of their calls. Timers
// do the same: a caller needs Expire only when the Clock cannot call back.
func (e *Executor) Expire() []string {
	if e == nil {
		return nil
	}
	return approvals.Each(e.approvals.ProcessDue(), func(c *call) string { return c.id })
}

// handleDue sends reminders to calls, and ends the calls whose requests have expired.
func handleDue(list []approvals.Due[*call], now time.Time) {
	for _, due := range list {
		if !due.Expired {
			due.Call.remind(now)
			continue
		}
		e := denied(outcomes.Expired())
		e.cause = lifecycle.ByConsent
		due.Call.finish(e)
	}
}

// remind emits the event that the request of the call will expire soon.
func (c *call) remind(now time.Time) {
	c.progress.Lock()
	defer c.progress.Unlock()
	if c.progress.Life.AwaitsConsent() {
		c.transition(runtime.EventApprovalExpiring, c.progress.State(), &note{At: now})
	}
}

// closeApprovals leaves the requests open, and answers the callers that wait for them.
func (e *Executor) closeApprovals() {
	for _, c := range e.approvals.Close() {
		c.progress.Lock()
		late := c.consent.WaitOver
		c.progress.Unlock()
		if late != nil {
			e.sched.Fire(late)
		}
	}
}
