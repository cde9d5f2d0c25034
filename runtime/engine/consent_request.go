package engine

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// prepareQuestion prepares the question for the approvers, if one is asked, and the preview of a
// call that needs consent or has it. It reports false when the call has ended.
func (c *call) prepareQuestion() bool {
	j := &c.worker.evaluation
	if c.consent == nil {
		c.progress.Lock() // the goroutine that ends the call reads it
		c.consent = &approvals.Needed{}
		c.progress.Unlock()
	}
	if j.Asks {
		q, err := c.questionOf(c.values.Final, &j.Decision)
		if err != nil && !c.approved() { // an approved one is asked another question now: use finds that
			j.Refuse(runtime.ReasonConsentUnavailable, outcomes.AskDetail(j.Decision.Asks), fmt.Sprintf("%q needs somebody's consent: %v", c.record.Tool, err))
			return true
		}
		c.consent.Question = q
	}
	if !c.tool.Previews() || !c.approved() && (c.exec.approvals.Answered(c.now, &c.consent.Question) || c.noApprover() != nil) {
		return true
	}
	plain := len(j.Decision.Rewrites) == 0
	if c.consent.Preview == nil || c.approved() || !plain || !c.consent.PreviewOfInput {
		if !c.makePreview() {
			return false
		}
		c.consent.PreviewOfInput = plain
	}
	c.consent.Question.Call.Preview = c.consent.Preview
	return true
}

// makePreview calls the preview hook and stores the preview, or the failure. It reports
// false when the call has ended.
func (c *call) makePreview() bool {
	due := deadline.Earlier(c.now.Add(c.deadline()), c.progress.TurnEnds())
	ctx := &deadline.Context{Parent: c.workCtx, Due: due}
	if !c.progress.EnterPreview(ctx, c.now) {
		return false
	}
	p, err := c.tool.Preview(ctx, c.values.Final)
	var failed evaluation
	if err != nil {
		failed = c.previewFailed(err)
	}
	ctx.Cancel(deadline.Canceled)
	c.now = c.clock()
	if !c.progress.Enter(lifecycle.Admitting, c.progress.TurnEnds(), c.now) {
		return false
	}
	if c.consent.Preview = p; err != nil {
		j := &c.worker.evaluation
		j.Refuse(failed.Reason, failed.Detail, failed.Message)
		j.fault = failed.fault
	}
	return true
}

var errPreviewLate = errors.New("preview: it did not end within the deadline of the tool and the budget of the turn")

// previewFailed returns the evaluation of a call whose preview failed. It reads the
// texts of the tool's errors here, within the time of the preview.
func (c *call) previewFailed(err error) (j evaluation) {
	whole := "" // the model reads nothing of a panic
	if _, returned := errors.AsType[*usercode.Error](err); returned {
		whole = usercode.ErrorText(err)
	}
	text, code := c.tool.ErrorText(err, whole)
	message := cmp.Or(c.redactText(text), fmt.Sprintf("%q could not show what the call would do", c.record.Tool))
	j.Refuse(runtime.ReasonPreviewFailed, runtime.Detail{Code: code}, message)
	j.fault = c.newFault(runtime.ReasonPreviewFailed, fmt.Errorf("preview: %w", err))
	return j
}

// questionOf returns the question about the call with some arguments. The error says
// that no approver could ever agree to the call.
func (c *ident) questionOf(args wire.Value, d *runtime.Decision) (consent.Question, error) {
	return approvals.Question(c.tool.Spec, c.consentCallWith(args, d.Revision), d)
}

func (c *ident) consentCallWith(args wire.Value, revision string) consent.Call {
	return consent.Call{
		ID: c.id, Tool: c.record.Tool, Pin: c.tool.Spec.Pin,
		Session: c.run.session.id, Run: c.run.id, Principal: c.run.by.Principal, Agent: c.run.by.Agent,
		Args: args, Revision: revision, Program: c.exec.processes.Binding(c.tool, args),
	}
}

// noApprover returns the result of a call that needs consent when there is no approver
// and the application does not poll Requests; nil otherwise.
func (c *work) noApprover() *result {
	if c.exec.polled || len(c.exec.approvers) > 0 {
		return nil
	}
	return denied(outcomes.NoApprover(c.record.Tool, c.worker.evaluation.Decision.Asks))
}

// checkOpenLimit returns the result of a call that needs consent when its session is full: it has as
// many open requests as it may have; nil otherwise.
func (c *work) checkOpenLimit(full bool) *result {
	if !full {
		return nil
	}
	return denied(outcomes.TooManyPending(c.record.Tool, c.exec.maxOpenRequests, c.worker.evaluation.Decision.Asks))
}

// pending returns the outcome of a call that waits for consent. The lock of the call is held.
func (c *call) pending() runtime.Outcome {
	now := c.clock()
	out := c.exec.approvals.Pending(now, c.consent, c.record.Tool)
	out.CallID, out.Revision, out.Duration = c.id, c.progress.Revision, now.Sub(c.began)
	if c.dry {
		return out
	}
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.fillRunStatus(&out)
	return out
}
