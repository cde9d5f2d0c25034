package approvals

import (
	"cmp"
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const (
	foreseeLimit = 2 * time.Second // for the policy and the preview hook together
	maxForeseen  = 4               // at a time: hooks that hang occupy no more goroutines
)

// A foreseen is what policy and tool say about a call that would run.
type foreseen struct {
	edit     *consent.Edit // of an answer that edits; nil: it does not
	question consent.Question
	unasked  bool
	denials  []consent.Reason
	unknown  string
	args     wire.Value
}

// Foresee returns what would become of an answer and of the call that waits for it. It asks the policy and the
// preview hook of the tool, and changes nothing. edit is the text of the answer's arguments, nil for none; args
// and text are those with which the call would run otherwise. s is nil when answer is Redeclared (SEMANTICS 5.2).
func (a *Approvals[C]) Foresee(
	ctx context.Context, request string, answer *consent.Answer, edit []byte, args wire.Value, text []byte, s *Subject,
) (p consent.Prospect) {
	now := a.cfg.Sched.Now()
	var asked consent.Request
	asked, p.Rejection = a.Probe(now, request, answer)
	if settled := p.Rejection != consent.NotRejected && (edit == nil || answer.Redeclared || p.Rejection != consent.TermsChanged); settled || !answer.Approve {
		switch {
		case p.Rejection == consent.InvalidInput:
			p.Invalid = answer.Wrong(asked.Masked)
		case p.Rejection == consent.TermsChanged && answer.Redeclared:
			p.Changed = []consent.Change{consent.ChangedDeclaration}
		}
		return p
	}
	result := make(chan foreseen, 1)
	err := deadline.Call(a.cfg.Sched, ctx, foreseeLimit, func(ctx context.Context) error {
		select {
		case a.foreseeing <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-a.foreseeing }()
		if edit != nil {
			result <- a.foreseeEdit(ctx, request, answer, edit, args, s)
		} else {
			result <- s.foresee(ctx, text, args)
		}
		return nil
	})
	f := foreseen{unknown: "the policy and the tool did not answer in time"}
	if err == nil {
		f = <-result
	}
	p.Denials, p.Unknown = f.denials, f.unknown
	if edit != nil && f.edit == nil {
		return p
	}
	final := *answer
	if final.Edit = f.edit; f.edit != nil && f.edit.Err != nil {
		p.Invalid = f.edit.Err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	ev := a.book.Decide(now, request, &final) // not applied
	res := ev.Result
	p.Rejection, p.Missing, p.Granted, p.Terms, p.Rewritten = res.Rejection, res.Missing, res.Granted, res.Terms, res.Rewritten
	if f.edit == nil && p.Unknown == "" && len(p.Denials) == 0 {
		p.Changed = a.book.Differs(now, request, &f.question, f.unasked)
	}
	if f.edit != nil && p.Terms != nil {
		p.Shown = show(a.key, f.args, revealed(s.Tool.Spec))
		if planned, isCommand := f.args.(*runtime.PlannedInput); isCommand {
			p.Argv = planned.Plan.Argv // a sensitive member is never one (SEMANTICS 5.10.8)
		}
	}
	return p
}

// foresee asks the policy and the preview hook about the call with the arguments that it has (SEMANTICS 5.2).
func (s *Subject) foresee(ctx context.Context, text []byte, args wire.Value) (f foreseen) {
	d, _, final, err := s.judge(ctx, append([]byte(nil), text...), args)
	if f.judged(&d, err); f.unknown != "" || f.denials != nil {
		return f
	}
	f.question, _ = s.question(final, &d) // one that no approver could answer is another question
	f.unasked = !decision.Asks(&d, s.Tool.Spec)
	if f.question.Call.Preview, err = s.Tool.Preview(ctx, final); err != nil {
		f.unknown = "the tool could not show what the call would do"
	}
	return f
}

// foreseeEdit asks the policy and the preview hook about the call with the arguments of an edit.
func (a *Approvals[C]) foreseeEdit(ctx context.Context, request string, answer *consent.Answer, text []byte, args wire.Value, s *Subject) (f foreseen) {
	edited := *answer
	e := a.Edit(ctx, request, text, &edited, args, s)
	if f.edit, f.args = edited.Edit, e.Args; e.Args != nil && edited.Edit.Err == nil {
		f.judged(&e.decision, nil)
	}
	return f
}

// judged stores how the policy refuses the call.
func (f *foreseen) judged(d *runtime.Decision, err error) {
	switch {
	case err != nil:
		f.unknown = "the policy could not be asked"
	case len(d.Denials) > 0:
		for _, denial := range d.Denials {
			f.denials = append(f.denials, consent.Reason{Code: cmp.Or(denial.Code, rulePolicy), Message: denial.Message, At: denial.At})
		}
	case d.Effect == runtime.EffectDeny:
		f.denials = []consent.Reason{{Code: runtime.ReasonPolicyDenied.String(), Message: "no policy allows the call"}}
	}
}
