package history

import (
	"encoding/json"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An outcome is a runtime.Outcome as a record holds it. It omits the output and what other members
// of the record say.
type outcome struct {
	Kind        runtime.OutcomeKind `json:"outcome"`
	Reason      runtime.Reason      `json:"reason,omitzero"`
	AllReasons  []runtime.Reason    `json:"all_reasons,omitempty"`
	Violations  []wire.Violation    `json:"violations,omitempty"`
	Message     string              `json:"message,omitempty"`
	Retryable   bool                `json:"retryable,omitempty"`
	RolledBack  bool                `json:"rolled_back,omitempty"`
	Obligations []obligation        `json:"obligations,omitempty"`
	Denials     []denial            `json:"denials,omitempty"`
	Detail      detail              `json:"detail,omitzero"`
	Of          string              `json:"of,omitempty"`
	RequestID   string              `json:"request,omitempty"`
	Steps       []step              `json:"steps,omitempty"`
	Loop        runtime.Loop        `json:"loop"`
	Run         runtime.RunState    `json:"run_state"`
	PendingExit []string            `json:"pending_exit,omitempty"`
	Notes       []string            `json:"notes,omitempty"`
}

// A detail is a runtime.Detail with its durations.
type detail struct {
	runtime.Detail
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	ExpiresIn  time.Duration `json:"expires_in_ns,omitempty"`
	Deadline   time.Duration `json:"deadline_ns,omitempty"`
}

// A denial is a runtime.Denial with its detail.
type denial struct {
	runtime.Denial
	Detail json.RawMessage `json:"detail,omitempty"`
}

// An obligation is a runtime.Obligation with its args.
type obligation struct {
	runtime.Obligation
	Args json.RawMessage `json:"args,omitempty"`
}

// A step is a runtime.Step with names for its members.
type step struct {
	Kind    runtime.StepKind `json:"kind"`
	Tool    string           `json:"tool,omitempty"`
	Call    string           `json:"call,omitempty"`
	Consent bool             `json:"consent,omitempty"`
	For     time.Duration    `json:"for_ns,omitempty"`
}

// Plain reports whether o has no other members than its kind, loop, run state, output, duration and
// revision, and the call and tool that it is of. Most outcomes are plain.
func Plain(o *runtime.Outcome) bool {
	switch {
	case o.RolledBack, o.Artifact != nil, o.Reason != runtime.ReasonNone, o.AllReasons != nil, o.Violations != nil, o.Message != "", o.Retryable,
		o.Obligations != nil, o.Denials != nil, o.Of != "", o.RequestID != "", o.Steps != nil, o.PendingExit != nil, o.Notes != nil:
		return false
	}
	return emptyDetail(&o.Detail)
}

// emptyDetail reports whether all members of d are zero.
func emptyDetail(d *runtime.Detail) bool {
	switch {
	case d.Code != "", d.Rule != "", d.At != "", d.Message != "", d.Available != nil, d.Allowed != nil, d.Max != 0, d.Used != 0,
		d.RetryAfter != 0, d.Missing != nil, d.Any, d.Waiting != nil, d.Already != nil, d.Group != "", d.HeldBy != "",
		d.PendingExit != nil, d.ExpiresIn != 0, d.Changed != nil, d.Deadline != 0, d.Writing, d.Killed:
		return false
	}
	return true
}

// EncodeOutcome returns o as a record holds it.
func EncodeOutcome(o *runtime.Outcome) ([]byte, error) {
	if Plain(o) { // the same text, faster
		return []byte(`{"outcome":"` + o.Kind.String() + `","loop":"` + o.Loop.String() + `","run_state":"` + o.Run.String() + `"}`), nil
	}
	r := outcome{
		Kind: o.Kind, Reason: o.Reason, AllReasons: o.AllReasons, Violations: o.Violations, Message: o.Message,
		Retryable: o.Retryable, RolledBack: o.RolledBack, Of: o.Of, RequestID: o.RequestID, Loop: o.Loop, Run: o.Run, PendingExit: o.PendingExit, Notes: o.Notes,
		Obligations: encodeObligations(o.Obligations), Denials: encodeDenials(o.Denials),
		Detail: detail{o.Detail, o.Detail.RetryAfter, o.Detail.ExpiresIn, o.Detail.Deadline},
	}
	for _, s := range o.Steps {
		r.Steps = append(r.Steps, step(s))
	}
	if emptyDetail(&o.Detail) {
		r.Detail = detail{}
	}
	return json.Marshal(&r)
}

// DecodeOutcome returns the outcome that a record holds.
func DecodeOutcome(text []byte) (runtime.Outcome, error) {
	var r outcome
	if err := json.Unmarshal(text, &r); err != nil {
		return runtime.Outcome{}, err
	}
	o := runtime.Outcome{
		Kind: r.Kind, Reason: r.Reason, AllReasons: r.AllReasons, Violations: r.Violations, Message: r.Message,
		Retryable: r.Retryable, RolledBack: r.RolledBack, Of: r.Of, RequestID: r.RequestID, Loop: r.Loop, Run: r.Run, PendingExit: r.PendingExit, Notes: r.Notes,
		Detail: r.Detail.Detail,
	}
	o.Detail.RetryAfter, o.Detail.ExpiresIn, o.Detail.Deadline = r.Detail.RetryAfter, r.Detail.ExpiresIn, r.Detail.Deadline
	for _, s := range r.Steps {
		o.Steps = append(o.Steps, runtime.Step(s))
	}
	for _, d := range r.Denials {
		d.Denial.Detail = wire.Raw(d.Detail)
		o.Denials = append(o.Denials, d.Denial)
	}
	for _, b := range r.Obligations {
		b.Obligation.Args = wire.Raw(b.Args)
		o.Obligations = append(o.Obligations, b.Obligation)
	}
	return o, nil
}

func encodeDenials(list []runtime.Denial) (out []denial) {
	for _, d := range list {
		out = append(out, denial{d, JSON(d.Detail)})
	}
	return out
}

func encodeObligations(list []runtime.Obligation) (out []obligation) {
	for _, o := range list {
		out = append(out, obligation{o, JSON(o.Args)})
	}
	return out
}

// JSON returns text as a member of a record. It is nil if text is no JSON, because a policy may have
// written any bytes.
func JSON(text wire.Raw) json.RawMessage {
	if !json.Valid(text) {
		return nil
	}
	return json.RawMessage(text)
}
