package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// Requests lists the requests that wait for answers, in the order in which they were made.
func (e *Executor) Requests() []*runtime.ConsentRequest {
	if e == nil || e.engine == nil {
		return nil
	}
	e.approvals.ProcessDue()
	open := e.approvals.Requests()
	list := make([]*runtime.ConsentRequest, len(open))
	for i := range open {
		list[i] = e.viewRequest(open[i])
	}
	return list
}

// Request returns a request. One that has ended is found for as long as the executor retains it.
func (e *Executor) Request(id string) (*runtime.ConsentRequest, bool) {
	if e == nil || e.engine == nil {
		return nil, false
	}
	r, ok := e.approvals.Request(id)
	if !ok {
		return nil, false
	}
	return e.viewRequest(r), true
}

// viewRequest returns a request as an approver sees it.
func (e *Executor) viewRequest(r consent.Request) *runtime.ConsentRequest {
	v := &runtime.ConsentRequest{Request: r, Covers: r.Requirement.Covers()}
	c := e.approvals.Call(r.ID)
	if c == nil {
		return v
	}
	var reveal []string
	if c.tool != nil { // a tool that is no longer declared has no title
		spec := c.tool.spec
		v.Title, v.Description = spec.Title, spec.Description
		if spec.Consent != nil {
			reveal = spec.Consent.Reveal
		}
	}
	c.mu.Lock()
	args, over := c.final, c.life.Ended()
	c.mu.Unlock()
	if !over {
		v.Shown = e.approvals.Show(args, reveal)
	}
	return v
}

// Grants lists the grants that match f, in the order in which they were given.
func (e *Executor) Grants(f GrantFilter) []consent.Grant {
	if e == nil || e.engine == nil {
		return nil
	}
	now := e.sched.Now()
	return e.approvals.Grants(func(g *consent.Grant) bool {
		fits := (f.ID == "" || f.ID == g.ID) && (f.Session == "" || f.Session == g.Session) && (f.Principal == "" || f.Principal == g.Principal) &&
			(f.Tool == "" || f.Tool == g.Tool)
		return fits && (!f.Live || g.Live(now))
	})
}

// Revoke takes a grant back: it answers no request from now on. The id of a grant is that of the
// request that it comes from. The operator policy is asked first (operator.Revoke).
// The error is an *ActionError.
func (e *Executor) Revoke(ctx context.Context, grantID string, by operator.Actor, reason string) error {
	if e == nil || e.engine == nil {
		return actionError(CodeUnknownRequest)
	}
	if err := e.authorize(orBackground(ctx), operator.Revoke, by, operator.Target{Grant: grantID}, nil); err != nil {
		return err
	}
	ev := e.approvals.Revoke(e.sched.Now(), grantID, by.ID, reason)
	if err := e.recordConsent(ev.At, by.ID, e.log.Flush, nil); err != nil {
		return &ActionError{Code: CodeJournalUnavailable, cause: err}
	}
	return actionError(Code(ev.Result.Rejection.String()))
}

// RetireGrants ends the grants whose rules no longer exist. The application calls it after it
// reloaded a policy; exists reports whether a rule asks about a tool now. The rule of a declaration
// that always asks is called declaration.
func (e *Executor) RetireGrants(exists func(tool, rule string) bool) {
	if e == nil || e.engine == nil {
		return
	}
	known := func(r consent.Rule) bool { return r.Code == approvals.RuleDeclaration || exists(r.Tool, r.Code) }
	if ev, some := e.approvals.Retire(e.sched.Now(), known); some {
		_ = e.recordConsent(ev.At, "", e.log.Flush, nil) // the grants are retired again when the policy is loaded after a restart
	}
}

// SuspendConsent stops requests for consent until an instant, at most an hour away. A call that
// would have asked runs; a call that is denied stays denied. The error handler is warned. The operator
// policy is asked first (operator.ConsentOff).
func (e *Executor) SuspendConsent(ctx context.Context, until time.Time, by operator.Actor, reason string) error {
	if e == nil || e.engine == nil {
		return errors.New("consent is switched off in an executor made by NewExecutor")
	}
	if err := e.log.Health(); err != nil {
		return fmt.Errorf("that consent is switched off cannot be recorded: %w", err)
	}
	if err := e.authorize(orBackground(ctx), operator.ConsentOff, by, operator.Target{}, nil); err != nil {
		return err
	}
	ev, err := e.approvals.Suspend(e.sched.Now(), until, by.ID, reason)
	if err == nil {
		off := &runtime.Event{Time: ev.At, Kind: runtime.EventConsentOff, By: by.ID}
		err = e.recordConsent(ev.At, by.ID, e.log.FlushThroughStall, off)
	}
	if err != nil {
		return err
	}
	e.report(&CallError{Err: fmt.Errorf("%q has switched consent off until %s: %s", by.ID, until.Format(time.RFC3339), reason)})
	return nil
}
