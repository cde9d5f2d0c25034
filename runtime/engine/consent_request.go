package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// prepareQuestion prepares the question for the approvers, if one is asked, and the preview of the
// call. It reports false when the call has ended.
func (c *call) prepareQuestion() bool {
	j := &c.worker.Scratch.evaluation
	if c.consent == nil {
		c.mu.Lock() // the goroutine that ends the call reads it
		c.consent = &consentState{}
		c.mu.Unlock()
	}
	if j.asks {
		q, err := c.questionOf(c.final, &j.decision)
		if err != nil && !c.approved() { // an approved one is asked another question now: use finds that
			j.Refuse(runtime.ReasonConsentUnavailable, askDetail(j.decision.Asks), fmt.Sprintf("%q needs somebody's consent: %v", c.record.tool, err))
			return true
		}
		c.consent.question = q
	}
	hook, declared := c.tool.hooks.Preview, c.tool.spec.Consent
	if hook == nil || declared == nil || !declared.Preview || !c.approved() && (c.exec.approvals.Answered(c.now, &c.consent.question) || c.noApprover() != nil) {
		return true
	}
	plain := len(j.decision.Rewrites) == 0
	if c.consent.preview == nil || c.approved() || !plain || !c.consent.previewOfInput {
		if !c.makePreview() {
			return false
		}
		c.consent.previewOfInput = plain
	}
	c.consent.question.Call.Preview = c.consent.preview
	return true
}

// makePreview calls the preview hook and stores the preview, or the failure. It reports
// false when the call has ended.
func (c *call) makePreview() bool {
	due := bounded(c.now.Add(c.deadline()), c.budgetEnds())
	ctx := &deadline.Context{Parent: c.workCtx, Due: due}
	c.mu.Lock()
	c.consent.previewCtx = ctx // from now on it ends with the call
	c.mu.Unlock()
	if !c.enterPhase(lifecycle.Previewing, due) {
		return false
	}
	p, err := c.previewOf(ctx, c.final)
	var failed evaluation
	if err != nil {
		failed = c.previewFailed(err)
	}
	ctx.Cancel(deadline.Canceled)
	c.now = c.clock()
	if !c.enterPhase(lifecycle.Admitting, c.budgetEnds()) {
		return false
	}
	if c.consent.preview = p; err != nil {
		j := &c.worker.Scratch.evaluation
		j.Refuse(failed.Reason, failed.Detail, failed.Message)
		j.fault = failed.fault
	}
	return true
}

// previewOf calls the preview hook of the tool, if it has one.
func (c *ident) previewOf(ctx context.Context, args wire.Value) (p *consent.Preview, err error) {
	declared := c.tool.spec.Consent
	if c.tool.hooks.Preview == nil || declared == nil || !declared.Preview {
		return nil, nil
	}
	err = usercode.Call(func() error {
		mediaType, text, err := c.tool.hooks.Preview(ctx, args)
		p = &consent.Preview{MediaType: mediaType, Text: text}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

var errPreviewLate = errors.New("preview: it did not end within the deadline of the tool and the budget of the turn")

// previewFailed returns the evaluation of a call whose preview failed. It reads the
// texts of the tool's errors here, within the time of the preview.
func (c *call) previewFailed(err error) (j evaluation) {
	whole := "" // the model reads nothing of a panic
	if _, returned := errors.AsType[*usercode.Error](err); returned {
		whole = usercode.ErrorText(err)
	}
	message, code := c.toolMessage(err, whole, fmt.Sprintf("%q could not show what the call would do", c.record.tool))
	j.Refuse(runtime.ReasonPreviewFailed, runtime.Detail{Code: code}, message)
	j.fault = c.newFault(runtime.ReasonPreviewFailed, fmt.Errorf("preview: %w", err))
	return j
}

// previewLate returns the result of a call whose preview took too long.
func (c *ident) previewLate() *result {
	return &result{
		event: runtime.EventFailed, to: runtime.StateFailed, fault: c.newFault(runtime.ReasonPreviewFailed, errPreviewLate),
		outcome: runtime.Outcome{Kind: runtime.Failed, Reason: runtime.ReasonPreviewFailed, Message: fmt.Sprintf("%q could not show in time what the call would do", c.record.tool)},
	}
}

// questionOf returns the question about the call with some arguments. The error says
// that no approver could ever agree to the call.
func (c *ident) questionOf(args wire.Value, d *runtime.Decision) (consent.Question, error) {
	return approvals.Question(c.tool.spec, c.consentCallWith(args, d.Revision), d)
}

func (c *ident) consentCallWith(args wire.Value, revision string) consent.Call {
	return consent.Call{
		ID: c.id, Tool: c.record.tool, Pin: c.tool.spec.Pin,
		Session: c.run.session.id, Run: c.run.id, Principal: c.run.principal, Agent: c.run.agent,
		Args: args, Revision: revision,
	}
}

var errNoApprover = errors.New("there is nobody to ask")

// noApprover returns the result of a call that needs consent when there is no approver
// and the application does not poll Requests; nil otherwise.
func (c *work) noApprover() *result {
	if c.exec.polled || len(c.exec.approvers) > 0 {
		return nil
	}
	return denial(runtime.ReasonConsentUnavailable, askDetail(c.worker.Scratch.evaluation.decision.Asks), fmt.Sprintf(
		"%q needs somebody's consent and %v", c.record.tool, errNoApprover))
}

// checkOpenLimit returns the result of a call that needs consent when its session is full: it has as
// many open requests as it may have; nil otherwise.
func (c *work) checkOpenLimit(full bool) *result {
	if !full {
		return nil
	}
	most := c.exec.maxOpenRequests
	return denial(runtime.ReasonTooManyPending, askDetail(c.worker.Scratch.evaluation.decision.Asks), fmt.Sprintf(
		"%q needs somebody's consent and %s the most that may: call it when some are answered", c.record.tool,
		wording.Plural(most, "1 request of this session waits for an answer, which is", "%d requests of this session wait for answers, which are")))
}

// askDetail names the first ask.
func askDetail(asks []runtime.Ask) runtime.Detail {
	if len(asks) == 0 {
		return runtime.Detail{}
	}
	return runtime.Detail{Rule: asks[0].ID, At: asks[0].At}
}

// useConsent uses up the approval or the grant that allows the call to start, and checks that the
// call is the one that was approved. It returns the result of a call that is not. The locks of the
// call and its session are held.
func (c *call) useConsent() *result {
	a := c.consent
	var m *approvals.Mismatch
	switch {
	case a.id != "":
		now := a.question
		now.Call = c.consentCallWith(c.final, c.revision)
		now.Call.Preview = a.preview
		m = c.exec.approvals.Use(c.now, a.id, &now, a.noLongerAsked)
	case a.grant != "":
		m = c.exec.approvals.UseGrant(c.now, a.grant, &a.question)
	}
	switch {
	case m == nil: // it may start; asking may be suspended
		a.approvedBy = c.exec.approvals.ApprovedBy(a.id, a.grant)
		return nil
	case m.Expired:
		return denial(runtime.ReasonConsentExpired, runtime.Detail{}, "the approval is too old: make the call again")
	}
	return denial(runtime.ReasonBindingMismatch, runtime.Detail{Changed: m.Changed}, "the call is not what was approved any more: make it again")
}

// pending returns the outcome of a call that waits for consent. c.mu is held.
func (c *call) pending() runtime.Outcome {
	out := runtime.Outcome{
		CallID: c.id, Tool: c.record.tool, Kind: runtime.Pending, Reason: runtime.ReasonConsentRequired,
		AllReasons: []runtime.Reason{runtime.ReasonConsentRequired}, RequestID: c.consent.id, Revision: c.revision, Loop: runtime.LoopWait,
	}
	now := c.clock()
	out.Duration = now.Sub(c.began)
	who := "somebody"
	// A dry call has no request: its outcome describes a request made now.
	q := &c.consent.question
	reasons, need, life := q.Reasons, q.Requirement, q.Requirement.Timeout
	if r, ok := c.exec.approvals.Request(c.consent.id); ok {
		reasons, need, life = r.Reasons, r.Requirement, r.Expires.Sub(now)
	}
	if len(reasons) > 0 {
		out.Detail = runtime.Detail{Rule: reasons[0].Code, At: reasons[0].At, Message: reasons[0].Message, ExpiresIn: life}
		if len(need.Approvers) > 0 {
			who = strings.Join(need.Approvers, " or ")
		}
	}
	out.Message = fmt.Sprintf("%q waits for the consent of %s", c.record.tool, who)
	if c.dry {
		return out
	}
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.fillRunStatus(&out)
	return out
}
