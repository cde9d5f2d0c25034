// Package decision is what the answer of a policy means for one call: the arguments after its rewrites, whether
// the answer can be followed, and whether the call is refused or needs consent.
//
// [Result.Ask] asks an [Asker], which knows how a policy is asked, for how long, and about which call.
// [Result.Judge] judges the answer. Both need values only.
package decision

import (
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// RuleBreaker is the rule of a call that was denied without an evaluation, because its policy hangs.
const RuleBreaker = "breaker_open"

// Unjudged is what a model is told when its call is denied for a fault of the policy.
const Unjudged = "the policy could not judge the call, which is denied therefore"

// An Asker asks the policy about a call.
type Asker interface {
	// Ask asks about arguments, whose text is text. It reports false when there is no answer.
	Ask(args wire.Value, text []byte) (runtime.Decision, bool)
}

// A Result is the answer of a policy about a call, and what follows from it. The rules are checked apart.
type Result struct {
	refusal.Refusal
	Decision runtime.Decision
	Args     wire.Value // that the decision is about
	Text     []byte     // of Args
	Asks     bool       // the call needs consent
	Err      error      // why the policy could not be followed, for operators

	rewritten bool // Args are those of the policy
}

// Fail refuses the call because the policy could not be asked, or its answer cannot be followed.
func (r *Result) Fail(rule string, err error) {
	r.Refuse(runtime.ReasonPolicyError, runtime.Detail{Rule: rule}, Unjudged)
	r.Err = err
}

// Denies reports whether the policy refuses what it was asked about.
func Denies(d *runtime.Decision) bool { return len(d.Denials) > 0 || d.Effect == runtime.EffectDeny }

// Asks reports whether a call that the policy allows needs consent, by the policy or by the declaration of its tool
// (SEMANTICS 3.6).
func Asks(d *runtime.Decision, declared *runtime.Spec) bool {
	return d.Effect == runtime.EffectAsk || len(d.Asks) > 0 || declared.Consent != nil && declared.Consent.Ask == runtime.ConsentAskAlways
}

// Ask asks about a call of t with arguments, applies the rewrites of the answer, and asks once more about the
// arguments that they make. It reports false when one of the answers is missing. The call is refused when the
// rewrites cannot be applied (SEMANTICS 3.5).
func (r *Result) Ask(a Asker, t *tools.Tool, args wire.Value, text []byte) (ok bool) {
	r.Args, r.Text = args, text
	r.Decision, ok = a.Ask(args, text)
	if !ok || len(r.Decision.Rewrites) == 0 || Denies(&r.Decision) {
		return ok
	}
	changed, final, err := t.Rewrite(text, args, r.Decision.Rewrites)
	if err != nil {
		r.failRewrite(err)
		return true
	}
	r.Args, r.Text, r.rewritten = final, changed, true
	r.Decision, ok = a.Ask(final, changed)
	return ok
}

var errNotStable = errors.New("a rewrite must leave alone what is as it wants it")

// Judge says what the answer means for a call of t: whether it is refused, and whether it needs consent. It
// reports false when the answer has no meaning, because its rewrites cannot be applied, or change what they
// made (SEMANTICS 3.6).
func (r *Result) Judge(t *tools.Tool) (followed bool) {
	d := &r.Decision
	if r.Err == nil && r.rewritten && len(d.Rewrites) > 0 && !Denies(d) {
		r.checkStable(t)
	}
	if r.Err != nil {
		return false
	}
	switch {
	case d.Effect > runtime.EffectAllow:
		r.Fail("effect", fmt.Errorf("the policy answered %v", d.Effect))
	case len(d.Denials) > 0:
		r.Deny(d.Denials, t.Spec)
	case d.Effect == runtime.EffectDeny:
		r.Refuse(runtime.ReasonPolicyDenied, runtime.Detail{Rule: "no_allow"}, fmt.Sprintf("no policy allows this call of %q", t.Spec.Name))
	default:
		r.checkObligations(t)
		r.Asks = Asks(d, t.Spec)
	}
	return true
}

// checkStable refuses the call when the rewrites of a second answer change the arguments, which the first ones
// made (SEMANTICS 3.5).
func (r *Result) checkStable(t *tools.Tool) {
	_, again, err := t.Rewrite(r.Text, r.Args, r.Decision.Rewrites)
	if err == nil && !tools.Equal(again, r.Args) {
		err = errNotStable
	}
	if err != nil {
		r.failRewrite(fmt.Errorf("rewrite %s, after a first rewrite: %w", rewrites.Name(&r.Decision.Rewrites[0]), err))
	}
}

// failRewrite refuses the call because rewrites cannot be applied: there is no decision about any arguments.
func (r *Result) failRewrite(err error) {
	r.Fail("rewrite", err)
	r.Decision = runtime.Decision{}
}

// checkObligations refuses the call when the executor cannot meet an obligation.
func (r *Result) checkObligations(t *tools.Tool) {
	for _, o := range r.Decision.Obligations {
		switch o.Code {
		case "notify":
			if _, violations := wire.ParseRaw(o.Args, wire.Limits{}); len(o.Args) > 0 && violations != nil {
				r.Fail("notify", fmt.Errorf("obligation notify %s: its args are no JSON: %s", rewrites.At(o.At), wording.Violations(violations)))
				return
			}
		case redact.Obligation:
			if err := redact.Check(t.Spec.Name, o.Args, t.Place); err != nil {
				r.Fail("redact_output", fmt.Errorf("obligation redact_output %s: %w", rewrites.At(o.At), err))
				return
			}
		default:
			r.Refuse(runtime.ReasonPolicyDenied, runtime.Detail{Rule: "unknown_obligation", At: o.At}, fmt.Sprintf(
				"the policy demands %q, which cannot be met here", o.Code))
			return
		}
	}
}
