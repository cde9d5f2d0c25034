package runtime

import "github.com/ambit-tools/ambit/runtime/internal/enum"

// A Reason says why a call ended as it did. The set is closed; the order of the
// constants is the order in which several reasons of one call are listed.
// Messages are for people and are never parsed: programs look at the Reason.
type Reason uint8

// ReasonNone is the reason of a call that completed.
const ReasonNone Reason = 0

// Reasons for refusals.
const (
	ReasonUnknownTool Reason = iota + 1
	ReasonInvalidInput
	ReasonCallIDReused
	ReasonShuttingDown
	ReasonOperationNotAllowed
	ReasonRunFinished
	ReasonExiting
	ReasonIdempotencyConflict
	ReasonDuplicatePending // an equal call waits for consent
	ReasonDeadline         // also the reason of a timeout
	ReasonBlockedAfterTimeout
	ReasonStartConstraint
	ReasonPrerequisiteMissing
	ReasonOrderViolation
	ReasonExclusiveGroup
	ReasonMaxCalls
	ReasonCooldown
	ReasonBehaviorNotAllowed
	ReasonCapabilityMissing
	ReasonModeOff
	ReasonPolicyDenied
	ReasonPolicyError
	ReasonConsentRequired
	ReasonConsentDenied
	ReasonConsentExpired
	ReasonConsentUnavailable
	ReasonBindingMismatch
	ReasonAtCapacity
	ReasonTooManyPending
	ReasonJournalUnavailable
	ReasonProgramChanged // the program of a command is not the one that the executor found

	// Reasons for failures.
	ReasonHandlerError
	ReasonPanic
	ReasonInvalidOutput
	ReasonOutputTooLarge
	ReasonPreviewFailed // the tool could not show what the call would do: its handler did not run
	ReasonCommitFailed
	ReasonInterrupted
	ReasonResourceExhausted // a command reached a limit, or the host had not what it needed

	// Reasons for cancellations.
	ReasonCancelled
	ReasonLeaseLost
	ReasonRunClosed
)

var reasonNames = [...]string{
	"",
	"unknown_tool", "invalid_input", "call_id_reused", "shutting_down",
	"operation_not_allowed", "run_finished", "exiting", "idempotency_conflict", "duplicate_pending",
	"deadline", "blocked_after_timeout",
	"start_constraint", "prerequisite_missing", "order_violation", "exclusive_group", "max_calls", "cooldown",
	"behavior_not_allowed", "capability_missing", "mode_off", "policy_denied", "policy_error",
	"consent_required", "consent_denied", "consent_expired", "consent_unavailable", "binding_mismatch",
	"at_capacity", "too_many_pending", "journal_unavailable", "program_changed",
	"handler_error", "panic", "invalid_output", "output_too_large", "preview_failed", "commit_failed", "interrupted", "resource_exhausted",
	"cancelled", "lease_lost", "run_closed",
}

// String returns the name of r, such as policy_denied; that of ReasonNone is empty.
func (r Reason) String() string { return enum.Name("reason", reasonNames[:], r) }

// MarshalText returns the name of r.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText sets r to the reason that text names (SEMANTICS 2.3).
func (r *Reason) UnmarshalText(text []byte) error {
	return enum.Parse("reason", reasonNames[:], text, r)
}
