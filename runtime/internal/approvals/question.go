package approvals

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
)

// The names of the rules that ask when the policy gives none.
const (
	RuleDeclaration = "declaration"
	rulePolicy      = "policy"
)

// Question returns the question about a call of a tool, which the declaration of the tool and a decision of the
// policy ask. The error says that no approver could ever agree to the call (SEMANTICS 5.7).
func Question(spec *runtime.Spec, call consent.Call, d *runtime.Decision) (q consent.Question, err error) {
	asks := make([]runtime.Ask, 0, len(d.Asks)+1)
	for _, a := range d.Asks {
		if a.ID == "" {
			a.ID = rulePolicy
		}
		asks = append(asks, runtime.Ask(a))
	}
	if q.Requirement, err = consent.Merge(requirementOf(spec), asks...); err == nil {
		err = q.Requirement.Answerable(call.Principal)
	}
	if spec.Consent != nil && spec.Consent.Ask == runtime.ConsentAskAlways {
		asks = append(asks, runtime.Ask{ID: RuleDeclaration, Message: spec.Consent.Message})
	}
	if len(asks) == 0 && d.Effect == runtime.EffectAsk {
		asks = append(asks, runtime.Ask{ID: rulePolicy})
	}
	q.Reasons, q.Obligations = consent.Reasons(asks), consentObligations(d.Obligations)
	q.Call = call
	q.Effect, q.Undoable = spec.Effect.String(), spec.Undo != nil
	if spec.Consent != nil {
		q.Message = spec.Consent.Message
	}
	return q, err
}

// consentObligations returns obligations as a request for consent holds them.
func consentObligations(list []runtime.Obligation) (out []consent.Obligation) {
	for _, o := range list {
		out = append(out, consent.Obligation{Code: o.Code, Args: history.JSON(o.Args)}) // args that are no JSON have denied the call already
	}
	return out
}

// requirementOf returns the consent that the declaration requires, nil when it requires none.
func requirementOf(s *runtime.Spec) *consent.Requirement {
	if s.Consent == nil {
		return nil
	}
	d := s.Consent
	return &consent.Requirement{
		Approvers: d.Approvers, Quorum: d.Quorum, Timeout: d.Timeout, MaxCover: d.MaxCover, MaxFor: d.MaxFor,
		AllowEdit: d.AllowEdit, AllowSelf: d.AllowSelf,
	}
}
