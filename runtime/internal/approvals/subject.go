package approvals

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Subject is a call that waits for consent, as far as its policy and its tool are asked about it.
type Subject struct {
	Tool *tools.Tool
	Call func(args wire.Value, revision string) consent.Call

	// Decide asks the policy about the call with some arguments, within the time that a policy has.
	Decide func(context.Context, wire.Value) (runtime.Decision, error)
}

// judge asks the policy about other arguments of the call. It returns the arguments and their text after
// the rewrites of the policy.
func (s *Subject) judge(ctx context.Context, text []byte, args wire.Value) (d runtime.Decision, _ []byte, final wire.Value, err error) {
	var r decision.Result
	a := asker{subject: s, ctx: ctx}
	if r.Ask(&a, s.Tool, args, text) {
		d = r.Decision
		r.Judge(s.Tool)
	}
	return d, r.Text, r.Args, cmp.Or(a.err, r.Err)
}

// An asker asks the policy of a subject.
type asker struct {
	subject *Subject
	ctx     context.Context
	err     error // why there is no answer
}

// Ask asks about arguments.
func (a *asker) Ask(args wire.Value, _ []byte) (d runtime.Decision, ok bool) {
	d, a.err = a.subject.Decide(a.ctx, args)
	return d, a.err == nil
}

// question returns the question about the call with some arguments.
func (s *Subject) question(args wire.Value, d *runtime.Decision) (consent.Question, error) {
	return Question(s.Tool.Spec, s.Call(args, d.Revision), d)
}

// An Edit is a call with the arguments that an approver wants instead.
type Edit struct {
	Args    wire.Value // nil: the answer is rejected
	Text    []byte     // of Args
	Preview *consent.Preview

	Panicked *usercode.Panicked // of the decoder; nil: it has not panicked

	PolicyErr error // why the policy could not judge the arguments: the answer is rejected

	decision runtime.Decision
}

var errUnjudged = errors.New("the policy could not judge the edited arguments")

// Edit decodes the arguments of an approver's edit, asks the policy about them, and stores the resulting
// question in the answer. present are those with which the call would run otherwise (SEMANTICS 5.2).
func (a *Approvals[C]) Edit(ctx context.Context, request string, text []byte, answer *consent.Answer, present wire.Value, s *Subject) (e Edit) {
	answer.Edit = &consent.Edit{}
	text = a.Unmask(request, text, present)
	args, violations, panicked := s.Tool.ReadArgs(text)
	e.Panicked = panicked
	q := &answer.Edit.Question
	q.Call = s.Call(args, "")
	if args == nil {
		answer.Edit.Err = fmt.Errorf("the edited arguments are invalid: %s", wording.Violations(violations))
		return e
	}
	// Do not evaluate the policy for an approver that may not answer at all.
	plain := *answer
	plain.Edit = nil
	was, rejection := a.Probe(a.cfg.Sched.Now(), request, &plain)
	q.Call.Revision = was.Revision
	if rejection != consent.NotRejected && rejection != consent.TermsChanged || !was.Requirement.AllowEdit {
		return e
	}
	d, text, final, err := s.judge(ctx, bytes.Clone(text), args)
	if e.decision, e.PolicyErr = d, err; err != nil {
		answer.Edit.Err = errUnjudged
		return e
	}
	if decision.Denies(&d) {
		d = runtime.Decision{} // the evaluation after the approval refuses the call
	}
	e.Args, e.Text, answer.Edit.Rewritten = final, text, !tools.Equal(final, args)
	asked, err := s.question(final, &d)
	if err != nil {
		answer.Edit.Err = err
		return e
	}
	*q = asked
	if e.Preview, err = s.Tool.Preview(ctx, final); err != nil {
		answer.Edit.Err = fmt.Errorf("what the edited call would do cannot be shown: %w", err)
	}
	q.Call.Preview = e.Preview
	return e
}

// AnswerOf returns an answer as the book of requests takes it.
func AnswerOf(a *action.Answer) *consent.Answer {
	return &consent.Answer{
		By: a.By.ID, Groups: a.By.Groups, Approve: a.Approve, Message: a.Message, Binding: a.Binding,
		Offer: consent.Offer{Lasting: a.Grant, For: a.For, Cover: a.Cover, Where: a.CoverArgs},
	}
}
