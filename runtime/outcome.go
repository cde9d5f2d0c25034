package runtime

import (
	"encoding/json"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/enum"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An OutcomeKind says how a call ended. The set is closed.
type OutcomeKind uint8

// The kinds of outcomes. The zero value is Denied.
const (
	Denied    OutcomeKind = iota // refused; the handler did not run
	Completed                    // the handler ran and its output was accepted
	Failed                       // the handler ran and failed, or its output was refused
	TimedOut                     // the handler ran past its deadline
	Cancelled                    // the caller, the run or the executor gave up on the call
	Duplicate                    // an equal call was made before
	Pending                      // it waits for consent
	Unknown                      // it was interrupted and may have taken effect
)

var outcomeNames = [...]string{
	"denied", "completed", "failed", "timed_out", "cancelled", "duplicate", "pending", "unknown",
}

// String returns the name of k, such as timed_out.
func (k OutcomeKind) String() string { return enum.Name("outcome", outcomeNames[:], k) }

// MarshalText returns the name of k.
func (k OutcomeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets k to the kind that text names (SEMANTICS 2.2).
func (k *OutcomeKind) UnmarshalText(text []byte) error {
	return enum.Parse("outcome", outcomeNames[:], text, k)
}

// An Outcome is how a call ended. All callers that ask for the call share it and must not change
// it. The zero value is a refusal.
type Outcome struct {
	CallID, Tool string

	Kind        OutcomeKind
	Reason      Reason           // the primary one; ReasonNone when completed
	AllReasons  []Reason         // each once, the primary one first
	Violations  []wire.Violation // of the input, or of the output
	Message     string           // safe to show to the model
	Output      wire.Raw         // JSON; nil unless completed, or when it is in Artifact
	Artifact    *StoredOutput    // the output, when it is longer than the tool's artifact allows
	Duration    time.Duration    // from the call to the outcome
	Times       Times            // what the parts of that took
	RolledBack  bool             // everything that the call did through participants was rolled back
	Retryable   bool             // of a timeout: the same call may be repeated
	Obligations []Obligation     // that the policy attached to a call it allowed
	Denials     []Denial         // the reasons of the policy against the call
	Detail      Detail           // of the primary reason
	Notes       []string         // safe to show to the model: what it should know for its next call, such as what takes the place of a deprecated tool
	Revision    string           // of the policy that evaluated the call

	Of          string   // duplicate, duplicate_pending, idempotency_conflict: the earlier call; at_capacity: the equal call that it waited for
	RequestID   string   // of the request for consent, when there was one
	Steps       []Step   // of a refusal by rules: what the caller can do so that the same call is admitted
	Loop        Loop     // what the agent loop should do
	Run         RunState // the state of the run after the call
	PendingExit []string // required tools that are open; nil when no tool is required
}

// A Detail holds what belongs to the primary reason of an Outcome.
type Detail struct {
	Code        string        `json:"code,omitempty"`         // handler_error, preview_failed: that of Public
	Rule        string        `json:"rule,omitempty"`         // policy_denied, policy_error: which one
	At          string        `json:"at,omitempty"`           // file:line of that rule
	Message     string        `json:"message,omitempty"`      // consent_denied: the message of the approver
	Available   []string      `json:"available,omitempty"`    // unknown_tool: the tools that exist
	Allowed     []string      `json:"allowed,omitempty"`      // operation_not_allowed, behavior_not_allowed: what is
	Max         int           `json:"max,omitempty"`          // max_calls
	Used        int           `json:"used,omitempty"`         // max_calls
	RetryAfter  time.Duration `json:"-"`                      // cooldown: at the earliest
	Missing     []string      `json:"missing,omitempty"`      // start_constraint, prerequisite_missing: tools without a success
	Any         bool          `json:"any,omitempty"`          // prerequisite_missing: one of Missing is enough
	Waiting     []string      `json:"waiting,omitempty"`      // prerequisite_missing, of an exit tool: calls of the run that wait for consent; duplicate_pending: the equal call
	Already     []string      `json:"already,omitempty"`      // order_violation: tools that have succeeded
	Group       string        `json:"group,omitempty"`        // exclusive_group
	HeldBy      string        `json:"held_by,omitempty"`      // exclusive_group: the tool that holds it
	PendingExit []string      `json:"pending_exit,omitempty"` // exiting: required tools that are open
	ExpiresIn   time.Duration `json:"-"`                      // consent_required: the lifetime of the request
	Changed     []string      `json:"changed,omitempty"`      // binding_mismatch: what differs from the approval
	Deadline    time.Duration `json:"-"`                      // timed_out: the time of the attempt; deadline: the time that is left
	Writing     bool          `json:"writing,omitempty"`      // a write under the fence still ran when the call ended
	Killed      bool          `json:"killed,omitempty"`       // the process of a command was ended, and may have taken effect
}

// detailJSON is the JSON form of a Detail.
type detailJSON struct {
	Detail
	RetryAfter float64 `json:"retry_after_ms,omitempty"`
	ExpiresIn  float64 `json:"expires_in_ms,omitempty"`
	Deadline   float64 `json:"deadline_ms,omitempty"`
}

func (d *Detail) json() detailJSON {
	return detailJSON{*d, ms(d.RetryAfter), ms(d.ExpiresIn), ms(d.Deadline)}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// outcomeJSON is the JSON form of an Outcome.
type outcomeJSON struct {
	CallID      string           `json:"call"`
	Tool        string           `json:"tool"`
	Kind        OutcomeKind      `json:"outcome"`
	Reason      Reason           `json:"reason,omitzero"`
	AllReasons  []Reason         `json:"all_reasons,omitempty"`
	Violations  []wire.Violation `json:"violations,omitempty"`
	Message     string           `json:"message,omitempty"`
	Output      json.RawMessage  `json:"output,omitempty"`
	Artifact    *StoredOutput    `json:"artifact,omitempty"`
	Duration    float64          `json:"duration_ms"`
	Times       timesJSON        `json:"times_ms,omitzero"`
	Retryable   bool             `json:"retryable,omitempty"`
	RolledBack  bool             `json:"rolled_back,omitempty"`
	Of          string           `json:"of,omitempty"`
	RequestID   string           `json:"request,omitempty"`
	Obligations []Obligation     `json:"obligations,omitempty"`
	Denials     []Denial         `json:"denials,omitempty"`
	Detail      detailJSON       `json:"detail,omitzero"`
	Notes       []string         `json:"notes,omitempty"`
	Revision    string           `json:"revision,omitempty"`
}

// MarshalJSON returns o as a JSON object with the members call, tool, outcome, reason, all_reasons,
// violations, message, output, artifact, duration_ms, retryable, rolled_back, of, request,
// obligations, denials, detail, notes and revision. Empty members are omitted. Durations are in milliseconds, in members that end in _ms.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(outcomeJSON{
		o.CallID, o.Tool, o.Kind, o.Reason, o.AllReasons, o.Violations, o.Message, json.RawMessage(o.Output), o.Artifact,
		ms(o.Duration), jsonOf(o.Times), o.Retryable, o.RolledBack, o.Of, o.RequestID, o.Obligations, o.Denials, o.Detail.json(), o.Notes, o.Revision,
	})
}
