package rules

import (
	"slices"
	"time"
)

// A Reason says which check refuses a call. The order of the constants is the
// order in which reasons are listed.
type Reason uint8

// The reasons. Up to ReasonDuplicatePending the first that applies is the
// only answer; from ReasonStartConstraint on all are collected.
const (
	ReasonUnknownTool Reason = iota + 1
	ReasonCallIDReused
	ReasonOperationNotAllowed
	ReasonRunFinished
	ReasonExiting
	ReasonIdempotencyConflict
	ReasonDuplicatePending
	ReasonStartConstraint
	ReasonPrerequisiteMissing
	ReasonOrderViolation
	ReasonExclusiveGroup
	ReasonMaxCalls
	ReasonCooldown
)

var reasonNames = [...]string{
	"", "unknown_tool", "call_id_reused", "operation_not_allowed", "run_finished", "exiting", "idempotency_conflict", "duplicate_pending",
	"start_constraint", "prerequisite_missing", "order_violation", "exclusive_group", "max_calls", "cooldown",
}

// String returns the name of r, such as max_calls.
func (r Reason) String() string { return nameOf("reason", reasonNames[:], r) }

// A Violation is one rule that refuses a call, with what the caller needs to
// react. Which fields are set depends on the Reason.
type Violation struct {
	Reason      Reason
	Allowed     []string      // operation_not_allowed: the values that are
	PendingExit []string      // exiting: the required tools that are open
	Missing     []string      // start_constraint, prerequisite_missing: the tools that have not succeeded
	Any         bool          // prerequisite_missing: one of Missing is enough
	Waiting     []string      // prerequisite_missing, of an exit tool: the calls of the run that wait for consent; duplicate_pending: the equal call
	Already     []string      // order_violation: the tools that have succeeded
	Group       string        // exclusive_group: which
	HeldBy      string        // exclusive_group: the tool that holds it
	Max, Used   int           // max_calls
	Shared      bool          // max_calls: it is the limit of all tools together
	RetryAfter  time.Duration // cooldown: at the earliest
	Running     bool          // cooldown: a call is running, RetryAfter counts from its end
}

// An Answer is what the rules say about a call.
type Answer uint8

// The answers. The zero value refuses.
const (
	Refused Answer = iota
	Admitted
	Duplicate // an equal call was made before, and does not wait for consent; not an error
)

var answerNames = [...]string{"refused", "admitted", "duplicate"}

// String returns refused, admitted or duplicate.
func (a Answer) String() string { return nameOf("answer", answerNames[:], a) }

// A Verdict is the judgement of one call. The zero value refuses it.
type Verdict struct {
	Answer     Answer
	Of         string      // Duplicate, ReasonIdempotencyConflict, ReasonDuplicatePending: the earlier call
	Violations []Violation // Refused: all of them, in the fixed order
}

// Admitted reports whether the call may go on.
func (v Verdict) Admitted() bool { return v.Answer == Admitted }

// Primary returns the first violation, or the zero value when there is none (SEMANTICS 3.2).
func (v Verdict) Primary() Violation {
	if len(v.Violations) == 0 {
		return Violation{}
	}
	return v.Violations[0]
}

// Reasons returns the reasons of all violations, each once, the primary first.
func (v Verdict) Reasons() []Reason {
	var out []Reason
	for i := range v.Violations {
		if r := v.Violations[i].Reason; !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

func refuse(v Violation) Verdict { return Verdict{Violations: []Violation{v}} }
