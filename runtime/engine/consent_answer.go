package engine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Decide answers a request for consent. All answers arrive through Decide: those of a
// terminal, a web console, another process or the application itself. Decide resolves
// the request in one step. Of several concurrent answers it accepts one.
//
// When the answer lets the call continue, Decide waits for the outcome of the call until ctx ends,
// unless the answer says NoWait. An answer counts even when ctx is done. The Resolution says what
// happened to the call. An accepted approval does not guarantee that the call runs: the rules and
// the policy evaluate it once more, and it must still be what was approved (SEMANTICS section 5.7).
func (e *Executor) Decide(ctx context.Context, requestID string, a action.Answer) action.Resolution {
	ctx = deadline.OrBackground(ctx)
	if e == nil || e.engine == nil {
		return action.Resolution{Reason: consent.UnknownRequest}
	}
	res, c := e.resolve(ctx, requestID, a)
	if c == nil {
		return res
	}
	if res.Kind == consent.Accepted && !a.NoWait {
		e.sched.Wait(c.record.Final, nil, ctx.Done())
	}
	setCall(&res, c)
	return res
}

// setCall sets the fields about the call of the request.
func setCall(r *action.Resolution, c *call) {
	r.Call = c.id
	ended := c.record.Final == nil || c.record.Final.Fired()
	if ended {
		out := c.record.Outcome()
		r.Outcome = &out
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.State = c.state
	if !ended && c.life.AwaitsApproval() {
		out := c.pending()
		r.Outcome = &out
	}
}

// resolve is Decide without waiting for the call. It returns the call, nil when there
// is none to wait for.
func (e *Executor) resolve(ctx context.Context, requestID string, a action.Answer) (action.Resolution, *call) {
	if e.log.On() && (e.approvals.Closed().Fired() || e.log.Stalled()) { // the request can be answered later
		return e.notRecorded(e.approvals.Call(requestID)), nil
	}
	e.approvals.ProcessDueOf(requestID)
	answer := &consent.Answer{
		By: a.By.ID, Groups: a.By.Groups, Approve: a.Approve, Message: a.Message, Binding: a.Binding,
		Offer: consent.Offer{Lasting: a.Grant, For: a.For, Cover: a.Cover, Where: a.CoverArgs},
	}
	c := e.approvals.Call(requestID)
	if c == nil {
		return e.answerUnknown(requestID, answer), nil
	}
	if c.declarationChanged { // an edit would bind to another declaration than the request does
		a.Edit = nil
	}
	answer.Barred = !e.mayAnswer(ctx, requestID, answer, a.By, c.run.session)
	edited := c.prepareEdit(ctx, requestID, a.Edit, answer)
	result := c.recordAnswer(requestID, answer, edited)
	if err := c.trail.FlushThroughStall(); err != nil {
		r := c.journalUnavailable(err)
		r.cause = lifecycle.ByConsent // a call that runs by now is not concerned
		c.finish(r)
		return e.notRecorded(c), nil
	}
	res := action.Resolution{Kind: result.Resolution, Reason: result.Rejection, Call: c.id, Missing: result.Missing, Granted: result.Granted}
	if result.Resolution == consent.Accepted {
		if result.Status == consent.StatusApproved {
			c.resume()
		} else {
			e := denied(outcomes.DeniedByPerson(a.Message))
			e.cause = lifecycle.ByConsent
			c.finish(e)
		}
	}
	return res, c
}

// answerUnknown records an answer to a request that does not exist, or no longer exists.
func (e *Executor) answerUnknown(request string, a *consent.Answer) action.Resolution {
	a.Edit = nil
	ev := e.approvals.Decide(e.sched.Now(), request, a)
	if err := e.recordConsent(ev.At, a.By, e.log.Flush, &runtime.Event{
		Time: ev.At, Kind: runtime.EventApprovalDecided, RequestID: request, By: a.By, Resolution: ev.Result.Resolution.String(),
		Rejection: ev.Result.Rejection.String(),
	}); err != nil {
		return e.notRecorded(nil)
	}
	return action.Resolution{Kind: ev.Result.Resolution, Reason: ev.Result.Rejection}
}

// An edit holds the arguments with which an approver wants the call to run instead.
type edit struct {
	args    wire.Value
	text    []byte // of args
	preview *consent.Preview
	rule    rules.Call
	ok      bool // rule is valid
}

// prepareEdit decodes the arguments of an approver's edit, asks the policy about them, and
// stores the resulting question in the answer.
func (c *call) prepareEdit(ctx context.Context, request string, text []byte, a *consent.Answer) (e *edit) {
	if text == nil || !a.Approve {
		return nil
	}
	e, a.Edit = &edit{}, &consent.Edit{}
	c.mu.Lock()
	present := c.values.Final
	c.mu.Unlock()
	text = c.exec.approvals.Unmask(request, text, present)
	args, violations, panicked := c.tool.ReadArgs(text)
	if panicked != nil {
		c.exec.report(c.panicFault(panicked))
	}
	q := &a.Edit.Question
	q.Call = c.consentCallWith(args, "")
	if args == nil {
		a.Edit.Err = fmt.Errorf("the edited arguments are invalid: %s", wording.Violations(violations))
		return e
	}
	// Do not evaluate the policy for an approver that may not answer at all.
	was, rejection := c.exec.approvals.Probe(c.clock(), request, &consent.Answer{By: a.By, Groups: a.Groups, Barred: a.Barred, Approve: true, Binding: a.Binding, Offer: a.Offer})
	q.Call.Revision = was.Revision
	if rejection != consent.NotRejected || !was.Requirement.AllowEdit {
		return e
	}
	decision, text, final, err := c.evaluateArgs(ctx, bytes.Clone(text), args)
	if err != nil || len(decision.Denials) > 0 || decision.Effect == runtime.EffectDeny {
		decision = runtime.Decision{} // the evaluation after the approval refuses the call
	}
	e.args, e.text = final, text
	asked, err := c.questionOf(final, &decision)
	if err != nil {
		a.Edit.Err = err
		return e
	}
	*q = asked
	if e.preview, err = c.tool.Preview(ctx, final); err != nil {
		a.Edit.Err = fmt.Errorf("what the edited call would do cannot be shown: %w", err)
	}
	q.Call.Preview = e.preview
	_, err = c.fillRulesCall(&e.rule, final)
	e.ok = err == nil
	return e
}

// evaluateArgs asks the policy about other arguments of a call that waits. It returns the
// arguments and their text after the rewrites of the policy.
func (c *ident) evaluateArgs(ctx context.Context, text []byte, args wire.Value) (d runtime.Decision, _ []byte, final wire.Value, err error) {
	s := c.run.session
	s.mu.Lock()
	facts := c.run.currentFacts().Without(c.tool.Index)
	s.mu.Unlock()
	d, err = c.evaluateDetached(ctx, c.policyInputOf(args, facts, c.clock()))
	if err != nil || len(d.Rewrites) == 0 || len(d.Denials) > 0 || d.Effect == runtime.EffectDeny {
		return d, text, args, err
	}
	rewritten, final, err := c.tool.Rewrite(text, args, d.Rewrites)
	if err != nil {
		return d, text, args, err
	}
	d, err = c.evaluateDetached(ctx, c.policyInputOf(final, facts, c.clock()))
	return d, rewritten, final, err
}

// evaluateDetached evaluates the policy in its own goroutine, because the policy may hang.
func (c *ident) evaluateDetached(ctx context.Context, in runtime.PolicyInput) (runtime.Decision, error) {
	return c.exec.evaluations.Detached(ctx, c.tool.Index, func(ctx context.Context) (runtime.Decision, error) {
		return c.exec.policy.Decide(ctx, &in)
	})
}

// recordAnswer resolves the request of the call by an answer, in one step.
func (c *call) recordAnswer(request string, a *consent.Answer, ed *edit) *consent.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock()
	ev := c.exec.approvals.Decide(now, request, a)
	n := note{at: now, answer: &ev}
	if ed == nil || ev.Result.Resolution == consent.Rejected || c.life.Ended() {
		c.transition(runtime.EventApprovalDecided, c.state, &n)
		return ev.Result
	}
	n.edited = true
	c.values.Final, c.values.FinalText, c.consent.preview = ed.args, ed.text, ed.preview
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.Result.Resolution == consent.Recorded {
		s.memory.Rebind(c.exec.instant(now), &ed.rule)
	}
	n.session = true
	c.transition(runtime.EventApprovalDecided, c.state, &n)
	return ev.Result
}

// notRecorded returns the resolution of an answer that could not be recorded and
// therefore has no effect.
func (e *Executor) notRecorded(c *call) action.Resolution {
	res := action.Resolution{Reason: consent.NotRecorded}
	if c != nil {
		setCall(&res, c)
	}
	return res
}
