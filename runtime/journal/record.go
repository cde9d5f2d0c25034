package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// The kinds of records that are about no call. Those that are have the names of
// the events of runtime, such as tool.started.
const (
	KindSessionOpened = "session.opened" // or its configuration has changed
	KindSessionEnded  = "session.ended"  // for good: no call, run or undo follows
	KindRunStarted    = "run.started"
	KindRunStopped    = "run.stopped" // its model answered without a call
	KindRunClosed     = "run.closed"
	KindCommitting    = "commit.decided"   // what a call did will stand
	KindPrepared      = "undo.prepared"    // what the undo of a call will need
	KindUndoStarted   = "undo.started"     // an undo handler is about to start
	KindUndoDecided   = "undo.decided"     // what an undo handler did will stand
	KindConsent       = "consent.changed"  // a grant was revoked or retired, an answer found no call, consent was switched off
	KindShadow        = "policy.shadow"    // a call that a second policy, of earlier versions, would have decided otherwise; read, no longer written
	KindOwner         = "owner.changed"    // an executor has taken the journal over
	KindRestored      = "journal.restored" // on purpose: from a copy, or begun anew
	KindDeleted       = "segment.deleted"  // archived entries are in no file of the host any more
	KindOperator      = "operator.decided" // the operator policy allowed or denied an act
	KindSnapshot      = "session.snapshot" // what the entries of a session have made; without a session, those of none
	KindCalls         = "session.calls"    // ended calls of a session, which its snapshots refer to
)

// MarkOf returns the mark that every entry of a kind has: those of the beginning and the end of an undo. The
// marks of other entries depend on the call.
func MarkOf(kind string) Mark {
	switch kind {
	case KindUndoStarted:
		return MarkUndoing
	case "tool.undone", "tool.undo_failed":
		return MarkUndone
	}
	return MarkNone
}

// What Record.Effects says of a handler that starts. It was declared then, which
// is what counts when the call is interrupted.
const (
	EffectsNone    = "none"         // it only reads
	EffectsInParts = "participants" // all its effects go through participants
)

// A Record is what a leaf says. Which fields are set depends on the kind.
//
// It holds no value of a member that is marked x-sensitive: in its place is a
// commitment to it. See Payload.
type Record struct {
	Kind      string    `json:"event"`
	At        time.Time `json:"at"`
	Session   string    `json:"session,omitempty"`
	Run       string    `json:"run,omitempty"`
	Turn      int       `json:"turn,omitempty"`       // of the run, from 1
	RequestID string    `json:"request_id,omitempty"` // of the caller, in the metadata; not Request
	Agent     string    `json:"agent,omitempty"`      // the sub-agent
	Principal string    `json:"principal,omitempty"`

	Call        string        `json:"call,omitempty"`
	Tool        string        `json:"tool,omitempty"`
	Mark        Mark          `json:"mark,omitempty"` // as in the entry
	ToolVersion string        `json:"tool_version,omitempty"`
	Pin         string        `json:"pin,omitempty"`  // hash of the tool's declaration
	From        string        `json:"from,omitempty"` // states of the call
	To          string        `json:"to,omitempty"`
	Attempt     int           `json:"attempt,omitempty"`
	Epoch       uint64        `json:"epoch,omitempty"` // of the owner that the handler belongs to
	Duration    time.Duration `json:"duration_ns,omitempty"`
	Times       runtime.Times `json:"times,omitzero"` // of the outcome, or of the undo
	Revision    string        `json:"policy_revision,omitempty"`

	Request    string `json:"request,omitempty"` // for consent
	By         string `json:"by,omitempty"`      // who answered, undid, or switched off
	Resolution string `json:"resolution,omitempty"`
	Rejection  string `json:"rejection,omitempty"`

	Setup     *Setup               `json:"setup,omitempty"`        // of the session, or the owner
	Settings  *Settings            `json:"settings,omitempty"`     // of the executor that is the owner
	Heartbeat bool                 `json:"heartbeat,omitempty"`    // the call asked to be continued
	Metadata  map[string]string    `json:"metadata,omitempty"`     // of the call or the run, for the handler
	TurnEnds  time.Time            `json:"turn_ends,omitzero"`     // when the turn's budget is used up
	TurnCap   time.Duration        `json:"turn_cap_ns,omitempty"`  // most of an attempt of the turn
	Patience  time.Duration        `json:"patience_ns,omitempty"`  // how long the caller waits for consent
	InputMAC  string               `json:"input_mac,omitempty"`    // keyed digest of the input, byte by byte
	Args      *Payload             `json:"args,omitempty"`         // as they were decoded
	Final     *Payload             `json:"final_args,omitempty"`   // with which the handler runs, when they are not Args
	Prepared  *Payload             `json:"prepared,omitempty"`     // what the undo of the call needs
	Output    *Payload             `json:"output,omitempty"`       // of an artifact the preview
	Artifact  *runtime.ArtifactRef `json:"artifact,omitempty"`     // where the output is stored aside
	Live      *runtime.LiveCounts  `json:"live,omitempty"`         // what the handler has reported
	Process   *Process             `json:"process,omitempty"`      // what a command runs, or how that ended
	Outcome   json.RawMessage      `json:"outcome,omitempty"`      // all but the output
	Decision  json.RawMessage      `json:"decision,omitempty"`     // of the policy
	Sealed    []Seal               `json:"sealed,omitempty"`       // what stands once the call, or its undo, has committed
	Undoes    *rules.Event         `json:"undoes,omitempty"`       // what changes in the rule state then
	Triggered bool                 `json:"triggered,omitempty"`    // no caller waits for the call
	Effects   string               `json:"effects,omitempty"`      // where the handler has effects: EffectsNone or EffectsInParts; empty: anywhere
	Places    map[string]string    `json:"places,omitempty"`       // where participants keep the parts of the handler that starts, by their names
	Granted   []string             `json:"capabilities,omitempty"` // that the tool of a call needs, once it has started; before, those that its principal was given for it
	Command   *Command             `json:"command,omitempty"`      // of another process
	Restored  *Restored            `json:"restored,omitempty"`
	Deleted   *Deleted             `json:"deleted,omitempty"`
	Snapshot  *Snapshot            `json:"snapshot,omitempty"`
	Page      *CallPage            `json:"calls,omitempty"`
	Operator  *OperatorAct         `json:"operator,omitempty"` // the act of By

	Err   string `json:"error,omitempty"`
	Lost  string `json:"lost,omitempty"` // why values that belong here are missing
	Stack string `json:"stack,omitempty"`

	Rules   []rules.Event   `json:"rules,omitempty"`   // what changed in the rule state of the session
	Consent []consent.Event `json:"consent,omitempty"` // what changed in the book of requests and grants
}

// A Setup is how a session is configured, or who an owner is.
type Setup struct {
	Behavior     string            `json:"behavior,omitempty"`
	Modes        map[string]string `json:"modes,omitempty"`
	Capabilities []string          `json:"capabilities,omitempty"`

	Host  string `json:"host,omitempty"`
	Boot  string `json:"boot,omitempty"` // identifies the time since the machine started
	PID   int    `json:"pid,omitempty"`
	Start string `json:"start,omitempty"` // when the process started, by the system's count
}

// Deleted says which archived entries the owner of a journal is about to delete with their segment.
type Deleted struct {
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	File   string `json:"file"`
	Digest string `json:"digest"` // of the segment, in base64
	Reason string `json:"reason"`
}

// Restored says that the owner of a journal continued an older copy of it, or began
// it anew, on purpose.
type Restored struct {
	Kept   uint64 `json:"kept"`          // entries that the copy had
	Had    uint64 `json:"had,omitempty"` // at least so many were there before, as its keys say
	Reason string `json:"reason"`
}

// An OperatorAct is what an actor wanted to do, and what the operator policy said.
type OperatorAct struct {
	Act      string   `json:"act"`
	Method   string   `json:"method"` // how the actor was authenticated
	Groups   []string `json:"groups,omitempty"`
	Session  string   `json:"session,omitempty"` // as the actor named it, like the next four
	Run      string   `json:"run,omitempty"`
	Call     string   `json:"call,omitempty"`
	Request  string   `json:"request,omitempty"`
	Grant    string   `json:"grant,omitempty"`
	Allowed  bool     `json:"allowed"`
	Reason   string   `json:"reason,omitempty"`   // of a denial
	Revision string   `json:"revision,omitempty"` // of the operator policy
	// Omitted is for how many refused attempts of the actor the entry stands that have none of their own. Such an
	// entry names no act and no target.
	Omitted int `json:"omitted,omitempty"`
}

// Settings are the options of an executor that decisions depend on, and that no
// declaration has.
type Settings struct {
	Reminders     int           `json:"reminders"` // to a model that stops
	MinimumBudget time.Duration `json:"minimum_budget_ns"`

	Window *Window `json:"window,omitempty"` // of its tools, for an archive; nil: it is not recorded
}

// A Window is the longest time for which a call of an owner's tools matters to later ones (SEMANTICS 6.14.2).
type Window struct {
	Longest time.Duration `json:"longest_ns"`
	Of      string        `json:"of,omitempty"`   // what needs it, of which tool; empty: nothing does
	Until   time.Time     `json:"until,omitzero"` // in a snapshot: when the next owner took the journal over; zero: no other one has
}

// A Payload is a JSON value as it is recorded.
type Payload struct {
	Bytes  int             `json:"bytes"`            // of Value
	SHA256 string          `json:"sha256,omitempty"` // of Value
	Value  json.RawMessage `json:"value,omitempty"`  // each sensitive value is replaced by a commitment

	Secrets int `json:"secrets,omitempty"` // how many were
}

// A Seal says what one participant of a call's transaction made stand.
type Seal struct {
	Participant string `json:"participant"`
	Digest      string `json:"digest"`
	Foreign     bool   `json:"foreign,omitempty"` // in a system of its own: it can still fail
}

// Decode returns what a leaf says.
func Decode(leaf []byte) (*Record, error) {
	var r Record
	if err := json.Unmarshal(leaf, &r); err != nil {
		return nil, fmt.Errorf("the leaf is no record: %w", err)
	}
	return &r, nil
}
