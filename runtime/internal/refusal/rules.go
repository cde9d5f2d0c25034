package refusal

import (
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// reasonOf maps the reasons of package rules to those of package runtime.
var reasonOf = [...]runtime.Reason{
	rules.ReasonUnknownTool:         runtime.ReasonUnknownTool,
	rules.ReasonCallIDReused:        runtime.ReasonCallIDReused,
	rules.ReasonOperationNotAllowed: runtime.ReasonOperationNotAllowed,
	rules.ReasonRunFinished:         runtime.ReasonRunFinished,
	rules.ReasonExiting:             runtime.ReasonExiting,
	rules.ReasonIdempotencyConflict: runtime.ReasonIdempotencyConflict,
	rules.ReasonDuplicatePending:    runtime.ReasonDuplicatePending,
	rules.ReasonStartConstraint:     runtime.ReasonStartConstraint,
	rules.ReasonPrerequisiteMissing: runtime.ReasonPrerequisiteMissing,
	rules.ReasonOrderViolation:      runtime.ReasonOrderViolation,
	rules.ReasonExclusiveGroup:      runtime.ReasonExclusiveGroup,
	rules.ReasonMaxCalls:            runtime.ReasonMaxCalls,
	rules.ReasonCooldown:            runtime.ReasonCooldown,
}

// Rules sets the reasons, the detail and the message of the outcome
// of a call of a tool that rules refuse.
func Rules(out *runtime.Outcome, tool string, v rules.Verdict) {
	p := v.Primary()
	out.Reason = reasonOf[p.Reason]
	var texts []string
	for _, w := range v.Violations {
		if r := reasonOf[w.Reason]; !slices.Contains(out.AllReasons, r) {
			out.AllReasons = append(out.AllReasons, r)
		}
		texts = append(texts, wording.Violation(tool, &w, v.Of))
	}
	out.Message = strings.Join(texts, "; ")
	out.Of = v.Of
	out.Detail = runtime.Detail{
		Allowed: p.Allowed, PendingExit: p.PendingExit, Missing: p.Missing, Any: p.Any, Waiting: p.Waiting, Already: p.Already,
		Group: p.Group, HeldBy: p.HeldBy, Max: p.Max, Used: p.Used, RetryAfter: p.RetryAfter,
	}
	if p.Reason == rules.ReasonDuplicatePending {
		Unblock(out, rules.Way{Outlook: rules.OutlookOpen, Steps: []runtime.Step{{Kind: runtime.StepWait, Tool: tool, Call: v.Of}}})
	}
}

// Unblock adds to the outcome of a call that rules refuse what would make them admit the same call.
func Unblock(out *runtime.Outcome, way rules.Way) {
	switch way.Outlook {
	case rules.OutlookNever:
		out.Message += "; it cannot be called any more in this run"
	case rules.OutlookDrop:
		drops := slices.DeleteFunc(way.Steps, func(s runtime.Step) bool { return s.Kind != runtime.StepDrop })
		out.Message += "; it cannot be called any more in this run, unless " + wording.Steps(drops, " and ")
	case rules.OutlookOpen:
		out.Steps = way.Steps
		out.Message += "; what would help: " + wording.Steps(way.Steps, ", then ")
	}
}
