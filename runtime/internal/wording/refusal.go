package wording

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Violation returns the message for the model about the rule that refuses its call of a tool. of is
// the earlier call that the rule compares with.
func Violation(tool string, v *rules.Violation, of string) string {
	switch v.Reason {
	case rules.ReasonOperationNotAllowed:
		return fmt.Sprintf("%q does not allow this operation; it allows: %s", tool, Names(v.Allowed))
	case rules.ReasonRunFinished:
		return "the run is finished: it takes no more calls"
	case rules.ReasonExiting:
		return fmt.Sprintf("the run is ending: only %s and what they still need may be called", Names(v.PendingExit))
	case rules.ReasonIdempotencyConflict:
		return fmt.Sprintf("call %s had the same idempotency key and other arguments", Quote(of))
	case rules.ReasonDuplicatePending:
		return fmt.Sprintf("the equal call %s waits for consent and may be denied: this one was not carried out", Quote(of))
	case rules.ReasonStartConstraint:
		return fmt.Sprintf("%s must succeed before anything else", Names(v.Missing))
	case rules.ReasonPrerequisiteMissing:
		return prerequisites(tool, v)
	case rules.ReasonOrderViolation:
		return fmt.Sprintf("%q must be called before %s, which has succeeded", tool, Names(v.Already))
	case rules.ReasonExclusiveGroup:
		return fmt.Sprintf("%q and %q exclude each other (group %q)", tool, v.HeldBy, v.Group)
	case rules.ReasonMaxCalls:
		who := "all tools together"
		if !v.Shared {
			who = fmt.Sprintf("%q", tool)
		}
		return who + " may be called " + Plural(v.Max, "once", "%d times") + " in a run"
	case rules.ReasonCooldown:
		return fmt.Sprintf("%q is cooling down: %s must pass", tool, Wait(v.RetryAfter))
	}
	return v.Reason.String()
}

// prerequisites returns the message about what a call of a tool has to wait for.
func prerequisites(tool string, v *rules.Violation) string {
	var texts []string
	switch {
	case v.Missing == nil:
	case v.Any:
		texts = append(texts, fmt.Sprintf("one of %s must succeed before %q", Names(v.Missing), tool))
	default:
		texts = append(texts, fmt.Sprintf("%s must succeed before %q", Names(v.Missing), tool))
	}
	if v.Waiting != nil {
		ids := make([]string, len(v.Waiting))
		for i, id := range v.Waiting {
			ids[i] = Quote(id)
		}
		what := "the call %s waits"
		if len(ids) > 1 {
			what = "the calls %s wait"
		}
		texts = append(texts, fmt.Sprintf("%q ends the run, and "+what+" for consent", tool, Names(ids)))
	}
	return strings.Join(texts, "; ")
}

// Steps returns the steps as text.
func Steps(steps []runtime.Step, between string) string {
	texts := make([]string, len(steps))
	for i, step := range steps {
		texts[i] = step.String()
	}
	return strings.Join(texts, between)
}
