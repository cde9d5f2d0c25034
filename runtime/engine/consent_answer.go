package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
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
	if res.Kind == runtime.ResolutionAccepted && !a.NoWait {
		e.sched.Wait(c.record.Final, nil, ctx.Done())
	}
	answering{c: c}.describe(&res)
	return res
}

// An answering is one answer to the request of a call.
type answering struct {
	c       *call
	request string
	answer  *consent.Answer
}

// describe sets what a resolution says of the call of the request.
func (g answering) describe(r *action.Resolution) {
	c := g.c
	r.Call = c.id
	ended := c.record.Final == nil || c.record.Final.Fired()
	if ended {
		out := c.record.Outcome()
		r.Outcome = &out
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	r.State = c.progress.State()
	if !ended && c.progress.Life.AwaitsApproval() {
		out := c.pending()
		r.Outcome = &out
	}
}

// resolve is Decide without waiting for the call. It returns the call, nil when there
// is none to wait for.
func (e *Executor) resolve(ctx context.Context, requestID string, a action.Answer) (action.Resolution, *call) {
	if e.log.On() && (e.approvals.Closed().Fired() || e.log.Stalled()) { // the request can be answered later
		return answering{c: e.approvals.Call(requestID)}.notRecorded(), nil
	}
	if len(a.By.ID) > wording.MaxName { // no entry names it
		return action.Resolution{Reason: consent.NotPermitted}, nil
	}
	e.recall(requestID)
	e.approvals.ProcessDueOf(requestID)
	answer := approvals.AnswerOf(&a)
	c := e.approvals.Call(requestID)
	if c == nil {
		return e.answerUnknown(requestID, answer), nil
	}
	defer c.run.session.place.Pin()()
	if answer.Redeclared = c.declarationChanged; answer.Redeclared { // it cannot decode an edit
		a.Edit = nil
	}
	answer.Barred = !e.mayAnswer(ctx, requestID, answer, a.By, false)
	g := answering{c, requestID, answer}
	edit := g.prepareEdit(ctx, a.Edit)
	if why := e.countRefused(requestID, answer); why != consent.NotRejected {
		return action.Resolution{Reason: why, Call: c.id}, c
	}
	result := g.record(edit)
	if err := c.trail.FlushThroughStall(); err != nil {
		r := c.journalUnavailable(err)
		r.cause = lifecycle.ByConsent // a call that runs by now is not concerned
		c.finish(r)
		return g.notRecorded(), nil
	}
	res := action.Resolution{Kind: result.Resolution, Reason: result.Rejection, Detail: result.Detail, Call: c.id, Missing: result.Missing, Granted: result.Granted, Rewritten: result.Rewritten}
	if result.Resolution == runtime.ResolutionAccepted {
		if result.Status == consent.StatusApproved {
			if c.progress.Approve() {
				c.submitApproved()
			}
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
	if why := e.countRefused(request, a); why != consent.NotRejected {
		return action.Resolution{Reason: why}
	}
	ev := e.approvals.Decide(e.sched.Now(), request, a)
	if err := e.recordConsent(&ev, e.log.Flush, &runtime.Event{
		Time: ev.At, Kind: runtime.EventApprovalDecided, RequestID: ev.Request, By: a.By, Resolution: ev.Result.Resolution.String(),
		Rejection: ev.Result.Rejection.String(),
	}); err != nil {
		return answering{}.notRecorded()
	}
	e.recordedRefusal(&ev)
	return action.Resolution{Kind: ev.Result.Resolution, Reason: ev.Result.Rejection}
}

// An edit holds the arguments with which an approver wants the call to run instead.
type edit struct {
	approvals.Edit
	rule rules.Call
}

// prepareEdit decodes the arguments of an approver's edit, asks the policy about them, and
// stores the resulting question in the answer.
func (g answering) prepareEdit(ctx context.Context, text []byte) *edit {
	c, a := g.c, g.answer
	if text == nil || !a.Approve {
		return nil
	}
	c.progress.Lock()
	present := c.values.Final
	c.progress.Unlock()
	s := c.subject()
	judge := s.Decide
	s.Decide = func(ctx context.Context, args wire.Value) (runtime.Decision, error) { // an answer counts though its caller is gone
		return judge(context.WithoutCancel(ctx), args)
	}
	e := &edit{Edit: c.exec.approvals.Edit(ctx, g.request, text, a, present, s)}
	if e.Panicked != nil {
		c.exec.report(c.panicFault(e.Panicked))
	}
	if e.PolicyErr != nil {
		secrets := (&tools.Values{Args: present, Text: text}).Secrets(c.tool, c.record.Input, nil)
		c.exec.report(c.newFault(runtime.ReasonPolicyError, e.PolicyErr).Hide(secrets.Redact))
	}
	if e.Args != nil {
		_, _ = c.fillRulesCall(&e.rule, e.Args) // the evaluation after the approval refuses arguments without a canonical form
	}
	return e
}

// subject returns the call as its policy and its tool are asked about answers.
func (c *ident) subject() *approvals.Subject {
	s := c.run.session
	s.mu.Lock()
	facts := c.run.currentFacts().Without(c.tool.Index)
	s.mu.Unlock()
	return &approvals.Subject{Tool: c.tool, Call: c.consentCallWith, Decide: func(ctx context.Context, args wire.Value) (runtime.Decision, error) {
		return c.evaluateDetached(ctx, c.policyInputOf(args, facts, c.clock()))
	}}
}

// evaluateDetached evaluates the policy in its own goroutine, because the policy may hang.
func (c *ident) evaluateDetached(ctx context.Context, in runtime.PolicyInput) (runtime.Decision, error) {
	return c.exec.evaluations.Detached(ctx, c.tool.Index, func(ctx context.Context) (runtime.Decision, error) {
		return c.exec.policy.Decide(ctx, &in)
	})
}

// record resolves the request of the call by the answer, in one step.
func (g answering) record(ed *edit) *consent.Result {
	c := g.c
	c.progress.Lock()
	defer c.progress.Unlock()
	now := c.clock()
	ev := c.exec.approvals.Decide(now, g.request, g.answer)
	defer c.exec.recordedRefusal(&ev)
	n := note{At: now, Answer: &ev}
	if ed == nil || ev.Result.Terms == nil || c.progress.Life.Ended() {
		c.transition(runtime.EventApprovalDecided, c.progress.State(), &n)
		return ev.Result
	}
	n.Edited = true
	c.values.Final, c.values.FinalText, c.consent.Preview = ed.Args, ed.Text, ed.Preview
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.Result.Resolution == runtime.ResolutionRecorded {
		s.memory.Rebind(c.exec.instant(now), &ed.rule)
	}
	n.Session = true
	c.transition(runtime.EventApprovalDecided, c.progress.State(), &n)
	return ev.Result
}

// notRecorded returns the resolution of an answer that could not be recorded and
// therefore has no effect.
func (g answering) notRecorded() action.Resolution {
	res := action.Resolution{Reason: consent.NotRecorded}
	if g.c != nil {
		g.describe(&res)
	}
	return res
}
