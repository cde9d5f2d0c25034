package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
)

// Probe says what would become of an answer if it was given now: whether Decide would reject it, what it would
// leave behind, and whether the call would still be what was asked. It asks the operator policy, the policy and
// the preview hook of the tool, within two seconds, and changes and records nothing. The rules of the tool are
// not asked: they are when the call runs.
func (e *Executor) Probe(ctx context.Context, requestID string, a action.Answer) consent.Prospect {
	var c *call
	if e != nil && e.engine != nil {
		c = e.approvals.Call(requestID)
	}
	if c == nil {
		return consent.Prospect{Rejection: consent.UnknownRequest}
	}
	defer c.run.session.place.Pin()()
	ctx, answer := deadline.OrBackground(ctx), approvals.AnswerOf(&a)
	if !e.capacity.Gate.Enter() {
		return consent.Prospect{Rejection: consent.NotRecorded}
	}
	defer e.capacity.Gate.Leave()
	answer.Barred = !e.mayAnswer(ctx, requestID, answer, a.By, true)
	var s *approvals.Subject
	if answer.Redeclared = c.declarationChanged; c.tool != nil && !answer.Redeclared {
		s = c.subject()
	}
	c.progress.Lock()
	args, text := c.values.Final, c.values.FinalText
	c.progress.Unlock()
	return e.approvals.Foresee(ctx, requestID, answer, a.Edit, args, text, s)
}
