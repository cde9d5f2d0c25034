package runtime

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Policy decides whether a call may run.
//
// The executor has no gates of its own: behaviours, capabilities and modes that
// a tool declares are enforced by the policy alone. The Rego library of this
// module does so (package runtime/opa); a Policy written in Go must do it itself
// or leave the call denied.
//
// Decide must be safe for concurrent use, must not change or keep its input,
// and must not call the executor. It has a time limit (WithPolicyTimeout); an
// evaluation that outlives it is abandoned and the call denied. An error, a
// panic and a decision that makes no sense deny the call with policy_error.
type Policy interface {
	Decide(context.Context, *PolicyInput) (Decision, error)
}

// A PolicyFunc is a Policy in the form of a function.
type PolicyFunc func(context.Context, *PolicyInput) (Decision, error)

// Decide calls f.
func (f PolicyFunc) Decide(ctx context.Context, in *PolicyInput) (Decision, error) {
	return f(ctx, in)
}

// A PolicyInput is what a policy may know of a call.
type PolicyInput struct {
	Tool  *Spec
	Index int        // position of the tool in the registry
	Args  wire.Value // the decoded arguments, the same value that the handler gets

	CallID, SessionID, RunID string

	Principal    string
	Capabilities []string
	Behavior     string // empty: none
	Modes        map[string]string

	Undo bool // the question is whether the call may be undone

	Now time.Time

	facts *Facts
	view  *view // instead of facts, when it is not nil
}

// Facts returns what happened in this run before this call, as it was when it was
// first asked for in this evaluation. A decision that was made without asking
// holds whatever else happens in the run meanwhile; any other is asked for again
// when the facts have changed (SEMANTICS section 3.5).
func (in *PolicyInput) Facts() *Facts {
	if in.view != nil {
		return in.view.facts()
	}
	return in.facts
}

// SetFacts makes f what Facts returns. Who makes an input to ask a policy himself,
// or keeps a copy of one, calls it.
func (in *PolicyInput) SetFacts(f *Facts) { in.facts, in.view = f, nil }

// A Decision is what a policy answers. The zero value denies.
//
// The strictest part wins: a denial over an ask, an ask over an allow. An
// Effect of EffectDeny without Denials means that nothing allowed the call
// (policy_denied, rule no_allow).
type Decision struct {
	Effect      Effect
	Denials     []Denial
	Asks        []Ask
	Rewrites    []Rewrite
	Obligations []Obligation
	Revision    string // of the policy that decided
}

// A Denial is one reason against a call.
//
// The codes behavior_not_allowed, capability_missing and mode_off are reasons of
// their own; any other code is policy_denied with the code as the rule.
type Denial struct {
	Code    string   `json:"code"`
	Message string   `json:"message,omitempty"` // reaches the model
	Detail  wire.Raw `json:"-"`                 // any JSON
	At      string   `json:"at,omitempty"`      // file:line of the rule
}

// An Ask says that people must agree before the call runs. A field that is zero
// wants nothing, but for MaxCover: an ask that says nothing of grants allows the
// narrowest.
type Ask struct {
	ID        string // the rule; grants hold for it
	Message   string
	Approvers []string
	Quorum    int
	Timeout   time.Duration
	MaxCover  GrantCover
	At        string // file:line of the rule
}

// A Rewrite replaces one value inside the arguments.
type Rewrite struct {
	Code    string
	Pointer string // JSON Pointer into the arguments
	Value   wire.Raw
	At      string
}

// An Obligation is something that must be done when the call runs.
//
// The executor knows two: redact_output, whose args {"pointers": [...]} name the
// members of the output to mask, and notify, which is recorded with the outcome
// and handed to observers. An unknown obligation denies the call, and so does a
// pointer to what the schema of the output does not declare. When there is
// nothing at a pointer the whole output is masked, unless the schema declares
// the place: what is not there then is absent.
type Obligation struct {
	Code string   `json:"code"`
	Args wire.Raw `json:"-"`
	At   string   `json:"at,omitempty"`
}
