package runtime

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Policy decides whether a call may run.
//
// The executor has no gates of its own: only the policy enforces the behaviors, capabilities and
// modes that a tool declares. The Rego library of this module does so (package runtime/opa). A
// Policy written in Go must check them itself or deny the call.
//
// Decide must be safe for concurrent use, must not change or retain its input, and must not call
// the executor. It has a time limit (engine.WithPolicyTimeout); the executor abandons an evaluation that
// exceeds it and denies the call. An error, a panic and an inconsistent decision deny the call with
// policy_error.
type Policy interface {
	Decide(context.Context, *PolicyInput) (Decision, error)
}

// Offers is a Policy that can say of a tool, before there is a call of it, that it denies each.
// engine.Turn.Withheld asks it, so that a model is not offered such a tool.
type Offers interface {
	// Gates returns the denial of each call of in.Tool, for any arguments and any earlier calls, and false when there may be a call that is not denied. in has no
	// arguments, no call id and no facts. It must be fast: it has no time limit.
	Gates(ctx context.Context, in *PolicyInput) (Denial, bool)
}

// DefaultPolicyTimeout is how long one evaluation may take when no time limit is set.
const DefaultPolicyTimeout = time.Second

// A PolicyFunc is a function that is a Policy.
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

	// Command is what the tool would run for Args; nil: it has a handler. It must not be changed.
	Command *Invocation

	CallID, SessionID, RunID string

	Principal    string
	Capabilities []string
	Behavior     string // empty: none
	Modes        map[string]string

	Undo     bool  // the policy decides whether the call may be undone
	UndoneBy Actor // who undoes it; zero unless Undo

	Now time.Time

	facts facts.Source // nil: no calls
}

// Facts returns what happened in this run before this call, as of the first call of Facts in this
// evaluation. A decision that was made without Facts stays valid when the facts of the run change
// meanwhile. The engine evaluates any other decision again then (SEMANTICS section 3.5).
func (in *PolicyInput) Facts() *Facts {
	if in.facts == nil {
		return nil
	}
	return (*Facts)(in.facts.Facts())
}

// SetFacts makes the facts of s what Facts returns. Only packages of this module can call it.
func (in *PolicyInput) SetFacts(s facts.Source) { in.facts = s }

// A Decision is the answer of a policy. The zero value denies.
//
// The strictest part wins: a denial over an ask, an ask over an allow. An Effect of EffectDeny
// without Denials means that nothing allowed the call (policy_denied, rule no_allow).
type Decision struct {
	Effect      Effect
	Denials     []Denial
	Asks        []Ask
	Rewrites    []Rewrite
	Obligations []Obligation
	Revision    string // of the policy that decided
}

// A Denial is one reason to deny a call.
//
// The codes behavior_not_allowed, capability_missing and mode_off are reasons of their own; any
// other code is policy_denied with the code as the rule.
type Denial struct {
	Code    string   `json:"code"`
	Message string   `json:"message,omitempty"` // reaches the model
	Detail  wire.Raw `json:"-"`                 // any JSON
	At      string   `json:"at,omitempty"`      // file:line of the rule
}

// An Ask says that approvers must consent before the call runs. A field that is zero requires
// nothing, except MaxCover: an ask without it allows only the narrowest grants.
type Ask struct {
	ID        string // the rule; grants hold for it
	Message   string
	Approvers []string
	Quorum    int
	Timeout   time.Duration
	MaxCover  GrantCover
	At        string   // file:line of the rule
	Bound     wire.Raw // a JSON object of values that an approval holds for, beside all else but Message; nil: none. Approvers see it
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
// The executor knows two obligations. redact_output has the args {"pointers": [...]}, which name
// the members of the output to mask. notify is recorded with the outcome and passed to observers.
// An unknown obligation denies the call, and so does a pointer to a member that the schema of the
// output does not declare. If a pointer finds no value, the whole output is masked, unless the
// schema declares the place: then the value is absent.
type Obligation struct {
	Code string   `json:"code"`
	Args wire.Raw `json:"-"`
	At   string   `json:"at,omitempty"`
}
