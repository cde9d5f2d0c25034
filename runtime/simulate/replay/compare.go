package replay

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

// A Verdict is the decision about a call.
type Verdict struct {
	Decision Decision `json:"decision"`
	// Outcome is how the call ended; running when it has no outcome, Unrecorded when
	// it would have run and did not.
	Outcome    string   `json:"outcome"`
	Reason     string   `json:"reason,omitempty"`
	AllReasons []string `json:"all_reasons,omitempty"`
	Rules      []string `json:"rules,omitempty"` // that asked, or denied
}

// A Decision is the kind of a verdict.
type Decision string

// The decisions.
const (
	Runs      Decision = "runs"
	Asked     Decision = "asked"
	Refused   Decision = "denied"
	Duplicate Decision = "duplicate"
	Open      Decision = "open" // cancelled or interrupted before anything was decided
)

// Unrecorded is the outcome of a call of which no handler was recorded: what the
// handler would have done is not known.
const Unrecorded = "unrecorded"

// A Class says how two verdicts differ.
type Class string

// The classes.
const (
	NewlyDenied   Class = "newly_denied"
	NewlyAsked    Class = "newly_asked"
	NewlyAllowed  Class = "newly_allowed"
	NoLongerAsked Class = "no_longer_asked"
	Otherwise     Class = "otherwise" // the same decision for other reasons or by other rules, or another end
)

// classify says how a candidate's verdict differs from the recorded one.
func classify(recorded, candidate Decision) Class {
	switch {
	case recorded == candidate:
		return Otherwise
	case candidate == Refused:
		return NewlyDenied
	case candidate == Asked:
		return NewlyAsked
	case candidate == Runs && recorded == Refused:
		return NewlyAllowed
	case candidate == Runs && recorded == Asked:
		return NoLongerAsked
	}
	return Otherwise
}

// verdict is what the recording says of the call in the end.
func (c *call) verdict() *Verdict {
	if c.outcome == nil {
		v := &Verdict{Decision: Open, Outcome: "running"}
		if c.admitted {
			v.Decision = Runs
		}
		return v
	}
	o := c.outcome
	v := &Verdict{Decision: decisionOf(o.Kind, o.Reason, c.started), Outcome: o.Kind.String(), Reason: o.Reason.String(), AllReasons: names(o.AllReasons)}
	var codes []string
	for _, d := range o.Denials {
		codes = append(codes, d.Code)
	}
	v.Rules = rulesOf(o.Reason, codes, o.Detail.Rule)
	return v
}

// asks is the verdict that consent is requested.
func asks(reasons []string) *Verdict {
	reasons = slices.Clone(reasons)
	slices.Sort(reasons)
	why := runtime.ReasonConsentRequired.String()
	return &Verdict{Decision: Asked, Outcome: runtime.Pending.String(), Reason: why, AllReasons: []string{why}, Rules: slices.Compact(reasons)}
}

// decisionOf returns the decision that an outcome stands for. A call whose preview
// failed required consent.
func decisionOf(k runtime.OutcomeKind, why runtime.Reason, started bool) Decision {
	switch {
	case started:
		return Runs
	case k == runtime.Denied:
		return Refused
	case k == runtime.Duplicate:
		return Duplicate
	case k == runtime.Pending, why == runtime.ReasonPreviewFailed:
		return Asked
	}
	return Open
}

// rulesOf returns the rules that refused a call. consent_unavailable is recorded in
// two ways, of which only one names the rule.
func rulesOf(r runtime.Reason, codes []string, rule string) []string {
	switch {
	case r == runtime.ReasonConsentUnavailable:
		return nil
	case len(codes) == 0 && rule != "":
		codes = []string{rule}
	}
	codes = slices.Clone(codes)
	slices.Sort(codes)
	return slices.Compact(codes)
}

func names(reasons []runtime.Reason) (out []string) {
	for _, r := range reasons {
		out = append(out, r.String())
	}
	return out
}

// same reports whether a candidate's verdict is the recorded one. How a handler
// failed, or was given up, does not depend on the candidate and is not compared.
func (v *Verdict) same(candidate *Verdict) bool {
	if v.Decision != candidate.Decision {
		return false
	}
	switch v.Decision {
	case Runs:
		return v.Outcome == candidate.Outcome || vain(v.Outcome) && vain(candidate.Outcome)
	case Duplicate, Open:
		return true
	}
	return v.Reason == candidate.Reason && slices.Equal(v.AllReasons, candidate.AllReasons) && slices.Equal(v.Rules, candidate.Rules)
}

// alike reports whether a candidate denies a call, or asks about it, as the recording does, for other reasons or by
// other rules. That changes no state of the session: what comes after it can be compared.
func (v *Verdict) alike(candidate *Verdict) bool {
	return v.Decision == candidate.Decision && (v.Decision == Refused || v.Decision == Asked)
}

// vain reports whether an outcome is that of a handler that ran without success.
func vain(outcome string) bool {
	switch outcome {
	case runtime.Failed.String(), runtime.Cancelled.String(), runtime.Unknown.String():
		return true
	}
	return false
}
